# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import Suspect

STEPS = (1, 2, 3, 4, 6, 8, 12)
NET = "__main__.Net#net@ -> ._modules dict#m@ -> ['fc'] torch.nn.Linear#fc@ -> ._parameters dict#p@ -> ['weight'] parameter#w@ 1MiB"
ADAM = "torch.optim.adam.Adam#adam@"
ITS_TABLES = f"""
island -> {ADAM} -> .param_groups list#groups@ -> [0] dict#group@ -> ['params'] list#params@ -> [0] parameter#w@ 1MiB
island -> {ADAM} -> .state collections.defaultdict#state@ -> <member> parameter#w@ 1MiB
island -> {ADAM} -> .state collections.defaultdict#state@ -> ['<Parameter>'] dict#of@ -> ['exp_avg'] tensor#avg@ 1MiB state
"""


def kept_by(*ways: str, tables: str = ITS_TABLES) -> Suspect:
    """What grows where each step trains a net of its own with an optimizer of its own, and a log keeps `ways`; `@` is
    the number of the step."""
    trial = "".join(f"\nmain(t.py:3).log -> __main__.Log#log -> .rows list#rows -> [@] {way}" for way in ways) + tables

    def drawn(step: int) -> str:
        newest = f"\ntune(t.py:9).net -> {NET}\ntune(t.py:9).opt -> {ADAM}".replace("@", str(step - 1))
        return newest + "".join(trial.replace("@", str(at)) for at in range(step))

    suspects = find_suspects([census(drawn(step), step=step) for step in STEPS])
    (found,) = (suspect for suspect in suspects if suspect.symptom == "growth")
    return found


@pytest.mark.parametrize("by_table", [True, False], ids=["by its table", "directly"])
@pytest.mark.parametrize(
    "way",
    [
        pytest.param(ADAM, id="the optimizer"),
        pytest.param(f"torch.optim.lr_scheduler.StepLR#plan@ -> .optimizer {ADAM}", id="a schedule of it"),
        pytest.param(f"__main__.Row#row@ -> .optimizer {ADAM}", id="a record with it"),
        pytest.param(f"dict#row@ -> ['optimizer'] {ADAM}", id="a dict with it"),
    ],
)
def test_a_log_of_optimizers_whose_models_are_gone(way: str, *, by_table: bool) -> None:
    tables = ITS_TABLES if by_table else ITS_TABLES.replace(" -> .", " -> ..")

    found = kept_by(way, tables=tables)

    assert found.facts["only_in_optimizers"] in (11, 12)  # the newest, still at work, may be a variable's
    assert (found.holder.name, found.holder.element, found.retained_bytes) == ("rows", True, 22 << 20)


@pytest.mark.parametrize(
    ("ways", "tables"),
    [
        pytest.param((f"__main__.Trial#t@ -> .net {NET}", f"__main__.Trial#t@ -> .opt {ADAM}"), ITS_TABLES, id="trials, whose models are the larger part of what stays"),
        pytest.param(("dict#saved@ -> ['state'] dict#of@ -> ['exp_avg'] tensor#copy@ 1MiB",), "", id="what was copied from them"),
    ],
)  # fmt: skip
def test_what_is_kept_beside_optimizers_is_told_otherwise(ways: tuple[str, ...], tables: str) -> None:
    assert "only_in_optimizers" not in kept_by(*ways, tables=tables).facts
