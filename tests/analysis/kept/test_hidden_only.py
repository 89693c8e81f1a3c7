from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import LITTLE_OF_ALL, Suspect

MODEL = "train(t.py:9).model -> __main__.Net#net called -> ._parameters dict -> ['w'] parameter#w 1MiB"
FRAME = "traceback#b -> .tb_frame frame#f file=t.py:3 name=fit"
ERROR = f"ValueError#e -> .__traceback__ {FRAME}"
KEPT = "<local forecast> tensor#kept 8MiB"


def survivors(*drawn: str, steps: int = 5) -> list[Suspect]:
    """What stays though nothing uses it, of a run in whose steps all lines are there from the second on."""
    censuses = [census("\n".join([MODEL, *(drawn if step > 1 else ())]), step=step) for step in range(1, steps + 1)]
    return [suspect for suspect in find_suspects(censuses) if suspect.symptom == "survivor"]


@pytest.mark.parametrize(
    ("root", "holder", "cut"),
    [
        (f"lib:sys.last_exc -> {ERROR} -> {KEPT}", "forecast", "last_exc"),
        (f"lib:sys.last_traceback -> {FRAME} -> {KEPT}", "forecast", "last_traceback"),
        (f"train(t.py:9).self -> __main__.Trainer#t -> .last_error {ERROR} -> {KEPT}", "last_error", "last_error"),
    ],
)
def test_one_kept_exception_keeps_what_its_frames_hold(root: str, holder: str, cut: str) -> None:
    (found,) = survivors(root)

    assert (found.holder.name, [each.name for each in found.cut]) == (holder, [cut])
    assert (found.retained_bytes, found.series.bytes) == (8 << 20, (0, *[8 << 20] * 4))


def test_what_the_hook_for_uncaught_errors_closes_over() -> None:
    hook = "function#report file=crash.py:18 name=report -> <cell trial> __main__.Trial#t -> .net tensor#v 8MiB"

    (found,) = survivors(f"lib:sys.excepthook -> {hook}")

    assert (found.path_text[0], found.holder.name, found.retained_bytes) == ("`sys.excepthook`", "net", 8 << 20)
    assert survivors(f"main.excepthook -> {hook}") == []
    assert survivors(f"lib:sys.excepthook -> {hook}", "train(t.py:9).trial -> __main__.Trial#t") == []


@pytest.mark.parametrize(
    "drawn",
    [
        pytest.param([f"lib:sys.last_exc -> {ERROR} -> <local model> __main__.Net#net"], id="the model is in use"),
        pytest.param(
            [f"lib:sys.last_exc -> {ERROR} -> {KEPT}", "train(t.py:9).best -> tensor#kept"], id="a variable has it too"
        ),
        pytest.param([f"lib:sys.last_exc -> {ERROR} -> <local x> tensor#x 64KiB"], id="it is little"),
    ],
)
def test_what_is_used_or_little_is_none(drawn: list[str]) -> None:
    assert survivors(*drawn) == []


@pytest.mark.parametrize(("size", "little"), [("420KiB", True), ("440KiB", False)])
def test_less_than_a_twentieth_of_all_is_marked_as_little(size: str, little: bool) -> None:
    """As the motifs of a gallery whose exit handler draws them."""
    weights = "train(t.py:9).model -> __main__.Net#net -> ._parameters dict -> ['v'] parameter 7MiB"
    (found,) = survivors(
        f"hidden atexit handler Gallery.hang.hang -> __main__.Gallery -> .motifs tensor {size}", weights
    )

    assert (LITTLE_OF_ALL in found.facts) is little


def test_an_exception_that_gives_way_to_the_next_keeps_nothing_for_long() -> None:
    censuses = [
        census(f"{MODEL}\nlib:sys.last_exc -> {ERROR} -> <local x> tensor#x 8MiB at={900 + step}", step=step)
        for step in range(1, 6)
    ]

    assert [each for each in find_suspects(censuses) if each.symptom == "survivor"] == []


@pytest.mark.parametrize(("size", "told"), [("4KiB", ["growth", "survivor"]), ("4MiB", ["growth"])])
def test_what_a_kept_exception_holds_is_told_beside_what_grows_a_little_by_the_same_variable(
    size: str, told: list[str]
) -> None:
    trainer = "train(t.py:9).self -> __main__.Trainer#t"
    drawn = [MODEL, f"{trainer} -> .last_error {ERROR} -> {KEPT}"]
    entries = [f"{trainer} -> .log list#log -> [{at}] tensor#x{at} {size}" for at in range(8)]
    censuses = [census("\n".join([*drawn, *entries[:step]]), step=step) for step in range(1, 9)]

    assert sorted(suspect.symptom for suspect in find_suspects(censuses)) == told
