from __future__ import annotations

from collections.abc import Callable

import pytest

from heaps import census
from tenure.analysis.sites.located import locate
from tenure.analysis.suspects import find_suspects
from tenure.model.heap import Census
from tenure.model.source import SourceFile
from tenure.model.suspect import Suspect
from tenure.rules.cached_function_holds import check_suspect as cached_function_holds
from tenure.rules.tensors_collected import check_suspect as tensors_collected

STEPS = (2, 3, 4, 6, 8, 12, 16)
LIBRARY = "screen.molecules -> list#l length={num} -> [{n}] screen.Molecule#m{n} -> .places tensor#p{n} 1KiB\n"
SCREEN = "/projects/dock/screen.py"
COMPUTED = """
from functools import cached_property

class Molecule:
    @cached_property
    def shells(self):
        return spread(self.places)
"""
SET = """
class Molecule:
    def descriptor(self):
        if self.shells is None:
            self.shells = spread(self.places)
        return self.shells.mean()
"""


def after(step: int, num: int) -> Census:
    library = "".join(LIBRARY.format(n=n, num=num) for n in range(num))
    filled = "screen.molecules -> list#l -> [{n}] screen.Molecule#m{n} -> .shells tensor#s{n} 256KiB\n"
    return census(library + "".join(filled.format(n=n) for n in range(step)), step=step)


def told(source: str, *, num: int = 40) -> Suspect:
    censuses = [after(step, num) for step in STEPS]
    (found,) = (locate(each, {SCREEN: SourceFile(SCREEN, source)}) for each in find_suspects(censuses))
    return found


@pytest.mark.parametrize(("source", "line"), [(COMPUTED, 6), (SET, 5)])
def test_the_attribute_that_one_object_after_the_other_gets_is_what_holds(source: str, line: int) -> None:
    found = told(source)

    assert (found.holder.kind, found.holder.expression) == ("attribute", "molecules[*].shells")
    assert (found.facts["filled_attributes"], found.facts["filled_attributes_of"], len(found.cut)) == (16, 40, 16)
    assert found.holder.sites[0].line == line
    assert found.retained_bytes == 16 * 256 << 10


def test_a_cached_property_is_told_as_a_cache() -> None:
    finding = cached_function_holds(told(COMPUTED))

    assert finding is not None
    assert (finding.rule, finding.confidence) == ("TN205", "likely")
    assert finding.message.startswith("`shells` is a cached property, and 16 objects until now keep its value")
    assert cached_function_holds(told(SET)) is None


@pytest.mark.parametrize(("num", "confidence"), [(40, "likely"), (33, "likely"), (32, "possible"), (17, "possible")])
def test_an_attribute_that_is_set_by_a_statement_collects_until_most_of_the_objects_have_it(
    num: int, confidence: str
) -> None:
    finding = tensors_collected(told(SET, num=num))

    assert finding is not None
    assert (finding.rule, finding.confidence) == ("TN202", confidence)
    assert finding.message == (
        "`molecules[*].shells` keeps a tensor of one object after the other, "
        f"16 of {num} until now: 256.00 KiB per step."
    )


def test_objects_that_come_with_the_attribute_are_what_is_collected() -> None:
    def made(step: int) -> Census:
        line = "screen.molecules -> list#l -> [{n}] screen.Molecule#m{n} -> .shells tensor#s{n} 256KiB\n"
        return census("".join(line.format(n=n) for n in range(step)), step=step)

    (found,) = find_suspects([*map(made, STEPS)])

    assert found.holder.expression == "molecules[*]"
    assert "filled_attributes" not in found.facts


MODEL = (
    "main.zoo -> __main__.Zoo#z -> .models list#l -> [{n}] torch.nn.Sequential#s{n} -> ._modules dict#d{n} length={of}"
)
LINEAR = MODEL + " -> ['0'] torch.nn.Linear#f{n} -> ._parameters dict -> ['w'] parameter#w{n} 1KiB\n"
SEEN = MODEL + " -> ['1'] torch.nn.SiLU#a{n} -> .seen tensor#t{n} 256KiB\n"
HOOK = """
def remember(layer, args, output):
    layer.seen = output.detach()
"""


@pytest.mark.parametrize(("length", "filled"), [(lambda step: 2, 16), (lambda step: 2 + step, None)])
def test_a_layer_without_memory_that_gets_some_is_no_new_element_of_its_model(
    length: Callable[[int], int], filled: int | None
) -> None:
    """Of what has no memory no census knows; that its container is as long as before says that it was there."""
    censuses = [
        census(
            "".join(LINEAR.format(n=n, of=length(step)) for n in range(20))
            + "".join(SEEN.format(n=n, of=length(step)) for n in range(step)),
            step=step,
        )
        for step in STEPS
    ]

    (found,) = (locate(each, {"hook.py": SourceFile("hook.py", HOOK)}) for each in find_suspects(censuses))

    assert found.facts.get("filled_attributes") == filled
    assert (found.holder.name, [site.line for site in found.holder.sites]) == ("seen", [3])


def kept_models(step: int, of: str) -> Census:
    """One more model each step; its layer has what a hook has set, and weights that are small beside it."""
    line = (
        "screen.models -> list#l -> [{n}] screen.Net#m{n} -> ._modules dict#d{n} -> ['act'] {of}#a{n}"
        " -> .seen tensor#s{n} 256KiB\n"
        "screen.models -> list#l -> [{n}] screen.Net#m{n} -> ._parameters dict#p{n} -> ['w'] tensor#w{n} 4KiB\n"
    )
    return census("".join(line.format(n=n, of=of) for n in range(step)), step=step)


HOOK = """
def note(layer, args, output):
    layer.seen = output.detach()
"""


def test_what_a_hook_sets_on_layers_of_kept_models_is_told_and_not_the_models() -> None:
    (found,) = find_suspects([kept_models(step, "torch.nn.modules.activation.ReLU") for step in STEPS])
    finding = tensors_collected(locate(found, {SCREEN: SourceFile(SCREEN, HOOK)}))

    assert finding is not None
    assert (finding.rule, finding.confidence, finding.holder.name, finding.holder.line) == (
        "TN202",
        "likely",
        "seen",
        3,
    )
    assert finding.retained_bytes == 16 * 256 << 10
    assert finding.remedies[0].summary == (
        "take it from the layers again once it is read, `del layer.seen`, also where a hook is removed"
    )


def test_what_layers_of_ones_own_keep_belongs_to_the_models() -> None:
    (found,) = find_suspects([kept_models(step, "screen.Act") for step in STEPS])

    assert (found.holder.expression, found.copies_of) == ("models[*]", "screen.Net")


def test_objects_that_came_with_the_attribute_before_the_last_census_are_what_is_collected() -> None:
    def known(tasks: int) -> str:
        return "".join(
            f"main.known -> list#k -> [{n}] data.Task#t{n} -> .turn tensor#u{n} 256KiB\n" for n in range(tasks)
        )

    rows = ((2, 1), (3, 1), (4, 2), (6, 3), (8, 4), (12, 6), (13, 6))
    found = find_suspects([census(known(tasks), step=step) for step, tasks in rows])

    assert [(each.holder.expression, "filled_attributes" in each.facts) for each in found] == [("known[*]", False)]
