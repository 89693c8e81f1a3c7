from __future__ import annotations

from dataclasses import replace
from unittest.mock import ANY

import pytest

from suspects import HISTORY, HOOKS, SPECIMENS, TRAIN, carried, finding, suspect
from tenure.model.finding import CutReference, Holder
from tenure.model.source import SourceLocation
from tenure.model.suspect import HOOKS_PER_STEP, Suspect
from tenure.rules.cycle_waits_for_collector import check_suspect as check_cycle
from tenure.rules.hooks_pile_up import check_suspect

REMEDY = (
    "register once, before the loop, or keep the handle that `register_..._hook` returns and call "
    "`handle.remove()` (also in a `finally`); let a hook reach its owner by `weakref`"
)


def test_hooks_that_grow_in_number() -> None:
    assert check_suspect(SPECIMENS["TN303"]) == finding(
        REMEDY,
        message="`model._forward_hooks[*]` gains hooks that are not removed, and each keeps what it closes over: 1.00"
        " MiB per step.",
        rule="TN303",
        name="hooks-pile-up",
        holder=Holder(
            kind="hook",
            name="register_forward_hook",
            expression="model._forward_hooks[*]",
            file="/projects/asr/train.py",
            line=24,
            function="fit",
        ),
        cut=(CutReference(name="_forward_hooks", file="/projects/asr/train.py", line=24),),
    )


@pytest.mark.parametrize(
    ("calls", "entries"), [("Window._watch.<locals>.note", "[note]"), ("main.<locals>.<lambda>", "[*]"), ("", "[*]")]
)
def test_hooks_go_by_the_function_that_they_call(calls: str, entries: str) -> None:
    hooks = SPECIMENS["TN303"]

    found = check_suspect(replace(hooks, holder=replace(hooks.holder, calls=calls)))

    assert found is not None
    assert found.holder.expression == f"model._forward_hooks{entries}"
    assert found.message.startswith(f"`model._forward_hooks{entries}` gains hooks")


def test_the_newest_of_hooks_that_pile_up_hold_what_they_saw() -> None:
    newest = carried(holder=replace(HOOKS, expression="model._forward_hooks[*]"), facts={HOOKS_PER_STEP: 2.0})

    found = check_suspect(newest)

    assert found is not None
    assert (found.rule, found.symptom, [each.summary for each in found.remedies]) == ("TN303", "peak", [REMEDY])
    assert found.message == (
        "`model._forward_hooks[*]` gains hooks that are not removed, 2 per step; the newest hold 3.00 MiB into the "
        "next forward."
    )


def test_a_ring_through_the_hook_of_a_tensor_that_it_leads_to_is_the_hooks_and_no_collection_frees_it() -> None:
    ring = replace(HISTORY, kind="cycle", name="stored", expression="Rule.stored")
    kept = suspect(symptom="cycle", cyclic=True, holder=ring, facts={"through_own_hook": True})

    assert check_suspect(kept) == finding(
        "give the hook what it needs without the tensor: `x.detach()`, or remove it by its handle",
        rule="TN303",
        name="hooks-pile-up",
        message="A hook of a tensor and `Rule.stored` lead to each other: a ring through autograd that holds 3.00 MiB "
        "and that no collection frees.",
        symptom="cycle",
        holder=Holder("cycle", "stored", "Rule.stored", TRAIN, 24, "fit"),
        cut=(CutReference("stored", TRAIN, 24),),
        evidence=ANY,
    )
    assert check_cycle(kept) is None

    told = check_suspect(replace(kept, holder=replace(ring, expression="register_hook(<lambda>)")))
    assert told is not None
    assert told.message.startswith("A tensor and its hook of `register_hook(<lambda>)` lead to each other: a ring")


@pytest.mark.parametrize(
    ("table", "registration"),
    [
        ("_global_forward_hooks", "register_module_forward_hook"),
        ("_global_backward_hooks", "register_module_full_backward_hook"),
        ("_global_optimizer_pre_hooks", "register_optimizer_step_pre_hook"),
    ],
)
def test_hooks_of_all_modules_and_optimizers_go_by_their_registration(table: str, registration: str) -> None:
    hooks = SPECIMENS["TN303"]

    found = check_suspect(replace(hooks, holder=replace(hooks.holder, name=table)))

    assert found is not None
    assert found.holder.name == registration


def test_what_hooks_close_over_is_told_with_them() -> None:
    hooks = SPECIMENS["TN303"]
    closure = replace(hooks.holder, kind="closure", name="inputs", element=False)
    by_hooks = replace(hooks.path[0], kind="HOOK", label="")
    inputs = replace(hooks, holder=closure, path=(*hooks.path, by_hooks), growth_objects_per_step=4.0)

    found = check_suspect(inputs)

    assert found is not None
    assert (found.rule, found.holder.name) == ("TN303", "inputs")
    assert check_suspect(replace(inputs, growth_objects_per_step=None)) is None
    assert check_suspect(replace(inputs, path=hooks.path[:0])) is None


OTHERS = {
    "a list that a hook fills is a list": SPECIMENS["TN202"],
    "hooks that stay as many": carried(holder=SPECIMENS["TN303"].holder),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None


@pytest.mark.parametrize(
    ("expression", "library", "handed_over"),
    [
        ("engine._event_handlers[*]", True, True),
        ("net._forward_hooks[*]", True, False),
        ("self.calls[*]", False, False),
    ],
)
def test_functions_in_a_librarys_own_table_are_to_be_handed_over_once(
    expression: str, library: bool, handed_over: bool
) -> None:
    inside = (SourceLocation("engine.py", 443, "on"),) if library else ()
    found = check_suspect(suspect(holder=replace(HOOKS, expression=expression, library_sites=inside)))

    assert found is not None
    assert found.remedies[0].summary.startswith("hand the function over once") is handed_over
