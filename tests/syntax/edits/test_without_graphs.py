from __future__ import annotations

from edit_texts import line_of, source_of
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import apply_edits
from tenure.syntax.edits.without_graphs import compute_without_graph


def decorated(text: str, name: str, *others: SourceFile) -> list[str]:
    """The functions that would run without graphs, one for each way, in the order of the ways."""
    source = source_of(text)
    files = {each.path: each for each in (source, *others)}
    found = []
    for (edit,) in compute_without_graph(list(files.values()), source, line_of(source), name):
        lines = apply_edits(files[edit.file].text, [edit]).splitlines()
        assert lines[edit.line - 1].strip() == "@torch.no_grad()"
        found.append(lines[edit.line].strip())
    return found


GALLERY = """
import torch

class Gallery:
    def unit(self, sheets):
        return self.net(sheets)

    def extend(self, sheets):
        {statement}
"""


def test_what_is_called_for_the_value_comes_first_and_then_the_function_itself() -> None:
    statement = "shard = Shard(self.unit(sheets))\n        self.shards.append(shard)  # here"

    assert decorated(GALLERY.format(statement=statement), "shards") == [
        "def unit(self, sheets):",
        "def extend(self, sheets):",
    ]


def test_callers_that_hand_the_value_in_are_asked() -> None:
    other = SourceFile("u.py", "import torch\n\ndef answer(x):\n    return net(x)\n\nreport.extend(1)\n")
    caller = SourceFile("v.py", "def check(gallery):\n    gallery.extend(answer(1))\n")

    text = GALLERY.format(statement="self.shards.append(sheets)  # here")
    assert decorated(text, "shards", other, caller) == ["def extend(self, sheets):", "def answer(x):"]


def test_a_class_that_is_called_like_the_variable_counts() -> None:
    other = SourceFile(
        "u.py", "import torch\n\nclass Labeller:\n    def __call__(self, pool):\n        yield net(pool)\n"
    )

    text = GALLERY.format(statement="self.soft = list(self.labeller(sheets))  # here")
    assert decorated(text, "soft", other) == ["def __call__(self, pool):", "def extend(self, sheets):"]


def test_nothing_that_trains_or_has_no_torch_is_changed() -> None:
    training = GALLERY.format(statement="loss = net(sheets)\n        loss.backward()\n        self.kept = loss  # here")

    assert decorated(training, "kept") == []
    assert decorated("def f(x):\n    self.kept = x  # here\n", "kept") == []
