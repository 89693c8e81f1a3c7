from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.computed_when_kept import compute_when_kept

METER = """
class Meter:
    def update(self, step, gap, logits):
        {added}  # here

    def result(self):
        {read}
"""


def kept(read: str, added: str = "self.rows.append(gap)", *labels: str) -> list[str]:
    source = source_of(METER.format(added=added, read=read))
    return changes(source, compute_when_kept([source], source, line_of(source), "rows", labels))


@pytest.mark.parametrize(
    ("read", "added", "after"),
    [
        ("return sum(each.mean().item() for each in self.rows)", "gap.mean()", "each.item() for each in self.rows"),
        (
            "return [torch.linalg.norm(r, dim=-1).max() for r in self.rows]",
            "torch.linalg.norm(gap, dim=-1).max()",
            "[r for",
        ),
        ("return torch.cat(self.rows).argmax(-1).tolist()", "gap.argmax(-1)", "torch.cat(self.rows).tolist()"),
        (
            "return torch.cat(self.rows).softmax(dim=1).argmax(dim=1)",
            "gap.softmax(dim=1).argmax(dim=1)",
            "torch.cat(self.rows)",
        ),
    ],
)
def test_what_is_read_of_each_value_is_computed_where_it_is_kept(read: str, added: str, after: str) -> None:
    new = [line for line in kept(read) if not line.startswith("- ")]

    assert new[0] == f"self.rows.append({added})  # here"
    assert after in new[1]
    assert len(new) == 2


def test_reads_share_the_steps_that_they_have_in_common() -> None:
    read = """if not self.rows:
            return 0.0
        for row in self.rows:
            print(row.abs().mean().item())
        return max(float(row.abs().amax()) for row in self.rows) / len(self.rows)"""

    assert [line for line in kept(read, "self.rows.append(gap - 1)") if not line.startswith("- ")] == [
        "self.rows.append((gap - 1).abs())  # here",
        "print(row.mean().item())",
        "return max(float(row.amax()) for row in self.rows) / len(self.rows)",
    ]


@pytest.mark.parametrize(
    ("added", "read", "label", "after"),
    [
        ("self.rows.append((step, logits))", "return [a.std() for _, a in self.rows]", "1", "(step, logits.std())"),
        (
            'self.rows.append({"step": step, "logits": logits})',
            'return [row["logits"].std() for row in self.rows]',
            "'logits'",
            '{"step": step, "logits": logits.std()}',
        ),
        (
            "self.rows.append(Row(step=step, logits=logits))",
            "return {row.step: row.logits.std() for row in self.rows}",
            "logits",
            "Row(step=step, logits=logits.std())",
        ),
        ("self.rows[step].append(logits)", "return [r.std() for r in self.rows[0]]", "", "logits.std()"),
        (
            "self.rows[step].append(logits)",
            "return {key: sum(r.std() for r in rows) for key, rows in self.rows.items()}",
            "",
            "logits.std()",
        ),
    ],
)
def test_parts_of_records_and_lists_in_a_table_are_followed(added: str, read: str, label: str, after: str) -> None:
    labels = [label] if label else []
    new = [line for line in kept(read, added, *labels) if not line.startswith("- ")]

    assert f"append({after})" in new[0]
    assert ".std()" not in new[1]


@pytest.mark.parametrize(
    "read",
    [
        "return sum(each.item() for each in self.rows)",  # waits for the device
        "return [each.to('cpu') for each in self.rows]",
        "return [torch.nonzero(each) for each in self.rows]",
        "return [each.quantile(self.at) for each in self.rows]",  # what another function has
        "return [each.mean() for each in self.rows], [each.std() for each in self.rows]",
        "return [each.mean() for each in self.rows], self.rows",
        "return [each.mean() * each for each in self.rows]",
        "return torch.cat(self.rows).argmax(0)",  # of columns, over all
        "return torch.cat(self.rows, dim=1).argmax(-1)",
        "return torch.cat(self.rows).mean()",
        "return [each.mean() for each in self.rows[-3:]]",
        "return [str(each) for each in self.rows]",  # waits for the device, of a tensor
        "for each in self.rows: each.zero_()",
    ],
)
def test_other_reads_keep_the_values(read: str) -> None:
    assert kept(read) == []


def test_a_list_of_a_function_is_read_in_that_function() -> None:
    source = source_of("""
        def evaluate(model, batches):
            answers = []
            for batch in batches:
                answers.append(model(batch))  # here
            return torch.cat(answers).argmax(dim=-1)
        """)

    assert changes(source, compute_when_kept([source], source, line_of(source), "answers", ())) == [
        "- answers.append(model(batch))  # here",
        "- return torch.cat(answers).argmax(dim=-1)",
        "answers.append(model(batch).argmax(dim=-1))  # here",
        "return torch.cat(answers)",
    ]


@pytest.mark.parametrize(
    ("added", "read", "after"),
    [
        ("self.rows.append(gap)", "return self.rows[-1].std()", ["self.rows.append(gap.std())  # here", "rows[-1]"]),
        ("self.rows = logits", "if self.rows is not None: print(self.rows.argmax(-1).tolist())",
         ["self.rows = logits.argmax(-1)  # here", "print(self.rows.tolist())"]),
        ("self.rows[step] = gap", "return round(self.rows[3].rates()[-1], 4)",
         ["self.rows[step] = gap.rates()[-1]  # here", "round(self.rows[3], 4)"]),
        ("self.rows[step] = gap", "return [(k, v.rates()) for k, v in self.rows.items()], self.rows.get(3).rates()",
         ["self.rows[step] = gap.rates()  # here", "[(k, v) for k, v in self.rows.items()], self.rows.get(3)"]),
    ],
    ids=["the newest", "an attribute", "by key", "all keys"],
)  # fmt: skip
def test_attributes_and_entries_of_tables_are_followed(added: str, read: str, after: list[str]) -> None:
    new = [line for line in kept(read, added) if not line.startswith("- ")]

    assert new[0] == after[0]
    assert after[1] in new[1]


def test_of_an_exception_its_text_is_kept() -> None:
    source = source_of(
        METER.format(added="self.rows.append((step, gap))", read="for at, why in self.rows: print(at, f'{why}', why)")
    )

    found = changes(source, compute_when_kept([source], source, line_of(source), "rows", ["1"], texts=True))

    assert found == ["- self.rows.append((step, gap))  # here", "self.rows.append((step, str(gap)))  # here"]
