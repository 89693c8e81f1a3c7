from __future__ import annotations

import dataclasses

import pytest

from profiles import MIB, profile
from suspects import SPECIMENS
from tenure.analysis.sites.binding_sites import resolve_sites
from tenure.analysis.sites.gradient_sites import name_of_gradients, told_by_freezing, told_by_other_backward
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import PARTS_WITH_GRADIENTS, TRAINED_BEFORE, UNCHANGED_SINCE, HoldingReference

PENALTY = """\
def penalty(scores):
    scores.sum().backward(create_graph=True)


def step(loss, keep):
    loss.backward()
    loss.backward(create_graph=False)
    loss.backward(retain_graph=True, create_graph=keep)
    torch.autograd.grad(loss, [], create_graph=True)
"""
GRADIENT = HoldingReference(kind="gradient", name="backward", expression="net.weight.grad")


def test_calls_of_backward_that_ask_for_a_graph_are_found_the_users_own_first() -> None:
    sources = {
        "/lib/site-packages/optim.py": SourceFile("/lib/site-packages/optim.py", PENALTY, "library"),
        "/me/penalty.py": SourceFile("/me/penalty.py", PENALTY, "yours"),
        "/me/broken.py": SourceFile("/me/broken.py", "def (create_graph=True)", "yours"),
    }

    assert resolve_sites(GRADIENT, sources, growing=False) == (
        SourceLocation("/me/penalty.py", 2, "penalty"),
        SourceLocation("/me/penalty.py", 8, "step"),
        SourceLocation("/lib/site-packages/optim.py", 2, "penalty"),
        SourceLocation("/lib/site-packages/optim.py", 8, "step"),
    )


def test_without_such_a_call_there_is_no_place() -> None:
    assert resolve_sites(GRADIENT, {"a.py": SourceFile("a.py", "loss.backward()", "yours")}, growing=False) == ()


GRADIENTS = 700
TRAINING = 12
"""The line whose backward pass the profile has."""
LEFT = dataclasses.replace(SPECIMENS["TN405"], storages=frozenset({(GRADIENTS, MIB)}))
STEP = "\n" * (TRAINING - 1) + "loss.backward()\n"
AUDIT = """\
def attribute(model, signal):
    scores = model(signal)
    scores.sum().backward()
    return signal.grad
"""


def told(*texts: str, used: bool = False, passes: bool = True) -> tuple[SourceLocation, ...] | None:
    """Where the gradients are said to be left by a program of these files; None where nothing is known of that."""
    paths = ("/p/train.py", "/p/audit.py", "/p/probe.py")
    sources = {path: SourceFile(path, text, "yours") for path, text in zip(paths, texts, strict=False)}
    phases = (1, 1, 2 if passes else 1, 3, 3) * 2
    watched = profile((GRADIENTS, 1, -1, 7 if used else -1, -1), phases=phases)
    found = told_by_other_backward(LEFT, [watched], sources)
    assert (found == LEFT) is ("left_by_backward" not in found.facts)
    return None if found == LEFT else found.holder.sites


def test_gradients_that_no_profiled_pass_touched_were_left_where_another_one_is_called() -> None:
    assert told(STEP, AUDIT) == (SourceLocation("/p/audit.py", 3, "attribute"),)
    assert told(STEP, AUDIT.replace("    return", "    accelerator.backward(scores)\n    return")) == (
        SourceLocation("/p/audit.py", 3, "attribute"),
        SourceLocation("/p/audit.py", 4, "attribute"),
    )


@pytest.mark.parametrize(
    ("texts", "used", "passes"),
    [((STEP, AUDIT), True, True), ((STEP,), False, True), ((STEP, AUDIT, AUDIT), False, True),
     ((STEP, AUDIT), False, False), (("def broken(backward", AUDIT), False, True),
     ((STEP + "scaler.scale(loss).backward()",), False, True)],
    ids=["each step adds to them", "no other pass", "several others", "no pass was profiled", "not to be parsed",
         "for another precision"],
)  # fmt: skip
def test_where_it_is_not_known_which_pass_left_them_none_is_named(
    texts: tuple[str, ...], used: bool, passes: bool
) -> None:
    assert told(*texts, used=used, passes=passes) is None


ADAPTS = """\
def adapt(loss, params):
    grads = torch.autograd.grad(loss, params, create_graph=True)
    for p, g in zip(params, grads):
        p.grad = g


def collect(params, sums):
    for p, g in zip(params, sums):
        p.grad = None
        p.grad = g
"""


def test_gradients_that_the_program_stores_itself_are_told_there_and_not_where_none_has_a_graph() -> None:
    sources = {"/me/maml.py": SourceFile("/me/maml.py", ADAPTS, "yours")}

    sites = resolve_sites(GRADIENT, sources, growing=False)

    assert sites == (SourceLocation("/me/maml.py", 4, "adapt"),)
    assert name_of_gradients(sites[0], sources, "backward") == "grad"
    assert name_of_gradients(SourceLocation("/me/maml.py", 2, "adapt"), sources, "backward") == "backward"


def test_gradients_of_an_entry_of_a_table_are_told_where_the_program_freezes_it() -> None:
    text = "for name, net in nets.items():\n    net.requires_grad_(0)\n"
    sources = {"/me/phases.py": SourceFile("/me/phases.py", text)}
    holder = dataclasses.replace(LEFT.holder, kind="item", sites=(SourceLocation("/me/phases.py", 1, "<module>"),))
    left = dataclasses.replace(LEFT, holder=holder, facts=LEFT.facts | {TRAINED_BEFORE: True})

    found = told_by_freezing(left, sources)

    assert (found.holder.name, [site.line for site in found.holder.sites]) == ("net", [2])


def test_what_a_library_stores_is_not_the_program_s() -> None:
    sources = {"/lib/maml.py": SourceFile("/lib/maml.py", ADAPTS, "library")}

    assert resolve_sites(GRADIENT, sources, growing=False) == ()


SELECT = """\
def select(unet, tuned):
    for name, parameter in unet.named_parameters():
        parameter.requires_grad_(any(part in name for part in tuned))
"""
LIBRARY = "/lib/site-packages/unets.py"


@pytest.mark.parametrize(
    ("texts", "facts", "in_library", "place"),
    [
        ([SELECT], {TRAINED_BEFORE: True}, True, ("parameter", 3)),
        ([SELECT], {TRAINED_BEFORE: True, PARTS_WITH_GRADIENTS: 9}, False, ("parameter", 3)),
        (["unet.time.requires_grad = False\n"], {TRAINED_BEFORE: True}, True, ("time", 1)),
        ([SELECT], {TRAINED_BEFORE: True}, False, None),
        ([SELECT], {}, True, None),
        ([SELECT, SELECT], {TRAINED_BEFORE: True}, True, None),
        (["unet.requires_grad_(True)\nunet.requires_grad_()\n"], {TRAINED_BEFORE: True}, True, None),
    ],
)
def test_layers_of_a_library_that_a_phase_trained_are_told_where_the_program_freezes_them(
    texts: list[str], facts: dict[str, object], in_library: bool, place: tuple[str, int] | None
) -> None:
    sources = {f"/me/{at}.py": SourceFile(f"/me/{at}.py", text) for at, text in enumerate(texts)}
    sources[LIBRARY] = SourceFile(LIBRARY, "self.conv1 = Conv2d(3, 3)\n", "library")
    site = SourceLocation(LIBRARY if in_library else "/me/0.py", 1, "__init__")
    holder = dataclasses.replace(LEFT.holder, sites=(site,))
    left = dataclasses.replace(LEFT, holder=holder, facts=LEFT.facts | facts)

    found = told_by_freezing(left, sources)

    if place is None:
        assert found == left
    else:
        assert (found.holder.name, found.holder.expression) == (place[0], LEFT.holder.expression)
        assert [(each.file, each.line) for each in found.holder.sites] == [("/me/0.py", place[1])]
        assert found.cut == (found.holder,)


@pytest.mark.parametrize(
    ("texts", "yours", "line"), [([SELECT], False, 3), ([SELECT], True, None), ([SELECT, SELECT], False, None)]
)
def test_state_of_frozen_layers_in_a_librarys_optimizer_is_told_where_the_program_freezes_them(
    texts: list[str], yours: bool, line: int | None
) -> None:
    sources = {f"/me/{at}.py": SourceFile(f"/me/{at}.py", text) for at, text in enumerate(texts)}
    left = dataclasses.replace(LEFT, facts={UNCHANGED_SINCE: 8}, holder_is_yours=yours)

    found = told_by_freezing(left, sources)

    if line is None:
        assert found == left
    else:
        assert (found.holder.name, found.holder.expression, found.holder_is_yours) == ("optimizer", "optimizer", True)
        assert [(each.file, each.line) for each in found.holder.sites] == [("/me/0.py", line)]
        assert found.cut == (found.holder,)
