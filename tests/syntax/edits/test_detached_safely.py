from __future__ import annotations

from textwrap import dedent

import pytest

from tenure.lint import lint_sources
from tenure.model.source import SourceFile

TRAINING = """
    import torch
    def train(model, criterion, optimizer, loader):
        kept, total = [], 0.0
        for batch, labels in loader:
            output = model(batch)
            loss = criterion(output, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            {statement}
        {end}
"""


def safe(text: str, **others: str) -> list[bool]:
    files = {"program.py": text} | {f"{name}.py": other for name, other in others.items()}
    findings, _ = lint_sources([SourceFile(path, dedent(each)) for path, each in files.items()])
    return [each.safe for each in findings]


@pytest.mark.parametrize(
    ("statement", "end", "expected"),
    [
        ("total += loss", "return total.item()", True),
        ("total += loss", "print(total / 3)", True),
        ("kept.append(loss)", "return torch.stack(kept).mean().item()", True),
        ("kept.append(loss * 2)", "print([float(each) for each in kept])", True),
        ("kept.append(output.abs())", "print(len(kept))", True),
        ("kept.append(output)", "print(len(kept))", False),  # who knows what a model returns
        ("kept.append(output.max())", "print(len(kept))", True),
        ("kept.append(output.max(1))", "print(len(kept))", False),  # a pair
        ("kept.append(torch.stack([output]))", "print(len(kept))", True),
        ("kept.append((loss, 1))", "print(len(kept))", True),
        ("total += loss", "return total", False),  # who calls it is not there
        ("kept.append(loss)", "finish(kept)\ndef finish(losses):\n    sum(losses).backward()", False),
        ("kept.append(loss)", "report(kept)\ndef report(losses):\n    print(sum(losses))", True),
        ("kept.append(loss)", "every = []\n    every.extend(kept)\n    sum(every).backward()", False),
        ("kept.append(loss)", "fit_curve(kept)", False),
        ("kept.append(loss)", "log_curve(kept)", True),
        ("kept.append(loss)", "print(loss in kept)", False),
        ("kept.append(loss)", "print(kept[0].grad_fn)", False),
        ("kept.append(loss)", "print(kept[0].requires_grad)", False),
        ("kept.append(loss)", "loss.backward(retain_graph=True)", False),
        ("kept.append(loss)", "again = kept[-1].backward\n    again()", False),
    ],
)
def test_to_detach_is_safe_where_nothing_is_seen_to_go_through_it(statement: str, end: str, expected: bool) -> None:
    text = dedent(TRAINING).format(statement=statement, end=end)
    assert safe(text)[:1] == [expected]


METER = """
    class Meter:
        def __init__(self):
            self.history = []
        def update(self, loss):
            self.history.append(loss.mean())
        def values(self):
            return {values}
"""
TRAIN = """
    import torch
    from meter import Meter
    def train(model, batches):
        meter = Meter()
        for batch in batches:
            loss = model(batch).mean()
            loss.backward()
            meter.update(loss)
        {end}
"""


@pytest.mark.parametrize(
    ("values", "end", "expected"),
    [
        ("[each.item() for each in self.history]", "print(meter.values())", True),
        ("self.history", "print(meter.values())", True),
        ("self.history", "sum(meter.values()).backward()", False),
        ("self.history", "return meter", False),  # nobody calls values()
        ("3", "print(meter.values())", False),  # nobody reads it
        ("3", "sum(getattr(meter, 'history')).backward()", False),
    ],
)
def test_what_an_object_keeps_is_followed_over_files(values: str, end: str, expected: bool) -> None:
    assert safe(TRAIN.format(end=end), meter=METER.format(values=values)) == [expected]


@pytest.mark.parametrize(("other", "num_edits"), [("0.5", 0), ("loss * 2", 1)])
def test_a_value_that_is_a_number_at_times_has_no_edit(other: str, num_edits: int) -> None:
    train = TRAIN.format(end="print(meter.values())").replace("(loss)", f"(loss); meter.update({other})")
    meter = METER.format(values="self.history").replace("loss.mean()", "loss")
    findings, _ = lint_sources([SourceFile("program.py", dedent(train)), SourceFile("meter.py", dedent(meter))])
    assert [len(each.edits) for each in findings] == [num_edits]


@pytest.mark.parametrize("statement", ["kept.append(Row(1, loss))", "row = Row(1, loss); kept.append(row)"])
def test_an_object_that_has_the_tensor_is_not_detached(statement: str) -> None:
    text = TRAINING.format(statement=statement, end="print(len(kept))")
    record = """
    class Row:
        def __init__(self, number, loss):
            self.number, self.loss = number, loss
    """

    findings, _ = lint_sources([SourceFile("program.py", dedent(text + record))])

    assert [each.edits for each in findings] == [()] * len(findings)


@pytest.mark.parametrize(
    ("value", "after"),
    [
        ("(step, loss)", "(step, loss.detach())"),
        ("{'loss': loss, 'more': [loss * 2, 3]}", "{'loss': loss.detach(), 'more': [(loss * 2).detach(), 3]}"),
        ("(output, 3)", None),
    ],
)
def test_of_a_tuple_or_dict_the_tensors_are_detached(value: str, after: str | None) -> None:
    text = dedent(TRAINING).format(statement=f"kept.append({value})", end="print(len(kept))")
    ((finding,), _) = lint_sources([SourceFile("program.py", text)])
    assert [(edit.after or "").strip() for edit in finding.edits] == ([f"kept.append({after})"] if after else [])
