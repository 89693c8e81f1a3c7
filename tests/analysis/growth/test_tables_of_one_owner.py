# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import Suspect

STEPS = (1, 2, 3, 4, 6, 8, 12)
NET = "__main__.Net#net@ -> ._modules dict#m@ -> ['fc'] torch.nn.Linear#fc@ -> ._parameters dict#p@ -> ['weight'] parameter#w@ 1MiB"
ADAM = "torch.optim.adam.Adam#adam@"
TABLES = f"""
island -> {ADAM} -> .param_groups list#groups@ -> [0] dict#group@ -> ['params'] list#params@ -> [0] parameter#w@ 1MiB
island -> {ADAM} -> .state collections.defaultdict#state@ -> ['<Parameter>'] dict#of@ -> ['exp_avg'] tensor#avg@ 1MiB state
"""
PREPARED = "main.keeper -> {keeper}#k -> .optimizers list#os -> [@] " + ADAM + TABLES
PREPARED += "main.keeper -> {keeper}#k -> .models list#ms -> [@] " + NET + "\n"
LIBRARY, MINE = "torch.hub.Keeper", "__main__.Keeper"


def told(keeper: str, *, called: str = "", one_optimizer: bool = False) -> list[tuple[list[str], int, float | None]]:
    """Cut, bytes and bytes per step of what grows."""
    return [
        ([each.expression for each in suspect.cut], suspect.retained_bytes >> 20, suspect.growth_bytes_per_step)
        for suspect in growing(keeper, called=called, one_optimizer=one_optimizer)
    ]


def growing(keeper: str, *, called: str = "", one_optimizer: bool = False) -> list[Suspect]:
    """What grows where a keeper has each step's net beside its optimizer."""

    def drawn(step: int) -> str:
        newest = f"\ntune(t.py:9).net -> {NET.replace('#net@', '#net@ called')}\n".replace("@", str(step - 1))
        rows = PREPARED.format(keeper=keeper).replace("#net@ ", f"#net@ {called} ")
        if one_optimizer:
            rows = rows.replace("[@] " + ADAM, "[0] torch.optim.adam.Adam#adam").replace(
                ADAM, "torch.optim.adam.Adam#adam"
            )
            rows = (
                rows.replace("list#groups@", "list#groups")
                .replace("[0] dict#group@", "[@] dict#group@")
                .replace("#state@", "#state")
            )
        return newest + "".join(rows.replace("@", str(at)) for at in range(step))

    found = find_suspects([census(drawn(step), step=step) for step in STEPS])
    return [suspect for suspect in found if suspect.symptom == "growth"]


def test_models_that_a_library_keeps_beside_their_optimizers_are_freed_by_emptying_both_tables() -> None:
    ((cut, freed, per_step),) = told(LIBRARY)

    assert sorted(cut) == ["keeper.models[*]", "keeper.optimizers[*]"]
    assert (freed, per_step) == (23, 2.0 * 2**20)


def test_tables_with_optimizers_are_told_as_these() -> None:
    (found,) = growing(LIBRARY)

    assert found.facts["only_in_optimizers"] == 12


def test_tables_of_the_programs_own_object_are_told_one_by_one() -> None:
    assert sorted(cut for cut, _, _ in told(MINE)) == [["keeper.models[*]"], ["keeper.optimizers[*]"]]


@pytest.mark.parametrize("options", [{"called": "called"}, {"one_optimizer": True}], ids=["in use", "one optimizer"])
def test_layers_that_are_in_use_or_trained_together_are_a_model_that_grows(options: dict[str, object]) -> None:
    assert "keeper.models[*]" not in [name for cut, _, _ in told(LIBRARY, **options) for name in cut]


def test_tables_of_the_same_library_objects_are_told_together() -> None:
    """As PEFT's layers have them: each adapter adds one part to both tables of every layer that it adapts."""
    layer = "main.net -> __main__.Net -> .layers list#layers -> [{at}] {kind}#{at} -> .{table} dict#{at}{table} -> ['{key}'] tensor#{at}{table}{key} 1MiB\n"

    def drawn(step: int, kind: str) -> str:
        rows = [(at, table, key) for at in (0, 1) for table in ("lora_A", "lora_B") for key in range(step)]
        return "".join(layer.format(at=at, table=table, key=f"task{key}", kind=kind) for at, table, key in rows)

    found = {
        kind: [
            suspect.retained_bytes >> 20
            for suspect in find_suspects([census(drawn(step, kind), step=step) for step in STEPS])
        ]
        for kind in ("torch.hub.Layer", "__main__.Layer")
    }

    assert found == {"torch.hub.Layer": [48], "__main__.Layer": [48, 48]}
