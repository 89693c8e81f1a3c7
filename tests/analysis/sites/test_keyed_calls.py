from __future__ import annotations

import pytest

from suspects import hop
from tenure.analysis.sites.keyed_calls import by_the_call_that_gives_the_keys, by_the_call_that_names_the_entry
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference

LIBRARY, MINE = "/usr/lib/python3/peft/layer.py", "/home/me/tasks.py"
KEYS = ["'task13'", "'task14'", "'task15'"]
LAYER = HoldingReference(
    "attribute", "lora_A", "base.proj.lora_A[*]", element=True, sites=(SourceLocation(LIBRARY, 263, "update_layer"),)
)


def named(text: str, keys: object, *, reference: HoldingReference = LAYER) -> tuple[str, list[tuple[str, int]]]:
    sources = {LIBRARY: SourceFile(LIBRARY, "", "library"), MINE: SourceFile(MINE, text)}
    found = by_the_call_that_gives_the_keys(reference, keys, sources)
    return found.name, [(site.file, site.line) for site in found.sites]


IN_LIBRARY = ("lora_A", [(LIBRARY, 263)])


@pytest.mark.parametrize(
    ("text", "keys", "expected"),
    [
        ("model.add_adapter(f'task{task}', config)", KEYS, ("add_adapter", [(MINE, 1)])),
        ("model.set_adapter(f'task{t}')\nmodel.add_adapter(name=f'task{t}')", KEYS, ("add_adapter", [(MINE, 2)])),
        ("m.add(f'task{t}')\nif t:\n    m.add(f'task{t}')", KEYS, ("add", [(MINE, 1), (MINE, 3)])),
        ("name = f'task{t}'\nmodel.load_adapter(path, adapter_name=name)", KEYS, ("load_adapter", [(MINE, 2)])),
        ("def f():\n    name = f'task{t}'\nmodel.load_adapter(name)", KEYS, IN_LIBRARY),
        ("model.add_adapter('task13')", KEYS, IN_LIBRARY),
        ("model.add_adapter(f'{task}')", KEYS, IN_LIBRARY),
        ("model.add_adapter(f'head{task}')", KEYS, IN_LIBRARY),
        ("print(f'task{task}')", KEYS, IN_LIBRARY),
        ("model.add_adapter(f'task{task}')", KEYS[:1], IN_LIBRARY),
        ("model.add_adapter(f'task{task}')", None, IN_LIBRARY),
    ],
)
def test_entries_of_a_library_are_told_at_the_call_that_gives_their_keys(
    text: str, keys: object, expected: tuple[str, list[tuple[str, int]]]
) -> None:
    assert named(text, keys) == expected


POOL = """
class Pool:
    def start(self, task, *, rank=8):
        self.model.{call}(task, config)
        return rank

    def export(self, task):
        return self.model.state_of(task)


def train(pool, name):
    pool.start(name)


def main():
    pool = Pool()
    for number in range(15):
        task = f"task{{number}}"
        train(pool, task)
        pool.export(task)
"""


@pytest.mark.parametrize(("call", "name", "line"), [("add_adapter", "add_adapter", 4), ("adapt", "adapt", 4)])
def test_a_text_that_is_handed_on_is_followed_to_the_librarys_call(call: str, name: str, line: int) -> None:
    """The call in which the text ends, whatever else is given it after."""
    assert named(POOL.format(call=call), KEYS) == (name, [(MINE, line)])


def test_a_call_of_ones_own_counts_where_no_library_is_seen_to_be_given_the_text() -> None:
    text = "def keep(name):\n    registry[name] = build()\n\nclass P:\n    def add(self, name):\n        keep(name)\n"

    assert named(text + "p.add(f'task{t}')", KEYS) == ("add", [(MINE, 7)])


def test_what_the_user_stores_is_told_where_it_is_stored() -> None:
    reference = HoldingReference("attribute", "heads", "self.heads[*]", sites=(SourceLocation(MINE, 9, "grow"),))

    assert named("model.add_adapter(f'task{t}')", KEYS, reference=reference) == ("heads", [(MINE, 9)])


def test_the_call_that_gives_the_keys_is_told_before_one_that_merely_calls_into_the_library() -> None:
    inside = (SourceLocation(LIBRARY, 263, "update_layer"),)
    called = HoldingReference(
        "attribute", "lora_A", "lora_A[*]", sites=(SourceLocation(MINE, 1, "<module>"),), library_sites=inside
    )
    text = "get_peft_model(base)\nmodel.load_adapter(f'task{t}')"

    assert named(text, KEYS, reference=called) == ("load_adapter", [(MINE, 2)])


ROWS = (hop("ITEM", "4", "list", "dict"), hop("ITEM", "'y_pred'", "dict", "torch.Tensor"))
HISTORY = HoldingReference(
    "attribute", "history_", "net.history_[*]", element=True,
    sites=(SourceLocation(MINE, 9, "main"),), library_sites=(SourceLocation(LIBRARY, 398, "NeuralNet.history"),),
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("net.history.record_batch('y_pred', y.detach())", 1),
        ("net.history.record_batch('loss', y)", 9),
        ("rows.get('y_pred', None)", 9),
        ("net.history.record('y_pred')", 9),
    ],
    ids=["records it", "records something else", "reads it", "records nothing"],
)
def test_what_a_library_keeps_under_a_text_is_told_where_the_program_records_it_so(text: str, line: int) -> None:
    found = by_the_call_that_names_the_entry(HISTORY, ROWS, {MINE: SourceFile(MINE, text)})

    assert [(site.file, site.line) for site in found.sites] == [(MINE, line)]
