from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.text.field_reads import lines_that_read, may_read_field


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("made = Rollout(scores=scores)", False),
        ("rollout.scores = scores", False),
        ("@dataclass\nclass Rollout:\n    scores: tuple = ()", False),
        ("agree = rollout.scores.argmax(-1)", True),
        ("rollout.scores.append(x)", True),
        ("rollout.scores += 1", True),
        ("names = ['scores']", True),
        ("match rollout:\n    case Rollout(tokens, scores):\n        pass", True),
        ("match rollout:\n    case Rollout(first, last):\n        pass", True),
        ("match rollout:\n    case Rollout(scores=first):\n        pass", True),
        ("match rollout:\n    case Rollout(tokens=first):\n        scores = 1", False),
        ("scores = 1\nsave(asdict(rollout))", True),
        ("value = getattr(rollout, name)", True),
        ("def (scores", True),
        ("x = 1", False),
    ],
)
def test_a_field_is_read_by_its_name_as_a_text_or_all_at_once(text: str, reads: bool) -> None:
    assert may_read_field(SourceFile("a.py", text), "scores") == reads


def test_a_private_field_is_read_by_the_name_that_its_class_writes() -> None:
    source = SourceFile("a.py", "class Replay:\n    def mean(self):\n        return self.__old.mean()\n")
    assert [may_read_field(source, name) for name in ("_Replay__old", "_Replay__new")] == [True, False]
    assert lines_that_read(source, "_Replay__old") == (3,)


def test_letters_that_python_takes_for_one_another_make_one_name() -> None:
    assert may_read_field(SourceFile("a.py", "mean = batch.\u00b5\n"), "\u03bc")


LOADS = "class Trainer:\n    def __init__(self, path):\n        self.loaded = load(path)\n        "


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        (LOADS + "self.model.load(self.loaded)", False),
        (LOADS + "self.model.load(other.loaded)", True),
        (LOADS + "self.later = lambda: self.loaded", True),
        (LOADS + "self.model.load(self.loaded)\n    def reset(self):\n        return self.loaded", True),
        (LOADS.replace("Trainer", "Loader") + "self.model.load(self.loaded)", True),
    ],
)
def test_what_an_object_reads_of_itself_while_it_is_made_it_reads_no_more(text: str, reads: bool) -> None:
    assert may_read_field(SourceFile("a.py", text), "loaded", made_by=frozenset({"Trainer"})) == reads


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("rows = len(clips.waves)\nrate = clips.waves.shape[0] / clips.waves.size(1)", ()),
        ("mean = clips.waves.mean()\nclips.waves = None", (1,)),
        ("first = clips.waves[: len(clips.waves)]", (1,)),
        ("print(clips.waves)\nwith_all = asdict(clips)", None),
        ("name = 'waves'", None),
        ("x = 1", ()),
        ("def (waves", None),
    ],
)
def test_lines_that_read_a_field_ask_for_more_than_its_shape(text: str, lines: tuple[int, ...] | None) -> None:
    assert lines_that_read(SourceFile("a.py", text), "waves") == lines
