from __future__ import annotations

import dataclasses

from heaps import census
from profiles import MIB, profile
from tenure.analysis.idle.beside_state import find_beside_state
from tenure.analysis.idle.step_replay import Replay
from tenure.model.heap import Census
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import BESIDE_STATE, GIVEN, UNREAD, Suspect

MODEL = "f(t.py:3).net -> Net -> .weight parameter 4MiB serial=1"
STATE = "load(l.py:4).state -> dict -> ['weight'] tensor 4MiB serial=2 input"
OTHER = "load(l.py:4).state -> dict -> ['moments'] tensor 8MiB serial=3"
TEMPORARY = "unseen -> dict -> ['weight'] tensor 4MiB serial=4 input"
OUTPUT = 400
# of two steps, the second of which peaks at operation 7 with what the model and this take
STEPS = profile((OUTPUT, 1, 2, 3, 4), (OUTPUT, 1, 6, 7, 9))
LOADS = """
def load(path, net):
    state = read(path)
    net.load_state_dict(state["model"])
    return net
"""


def peak(*lines: str) -> Census:
    made = census("\n".join([*lines, "f(t.py:3).out -> tensor 1MiB serial=9"]), step=6, moment="peak")
    address = made.nodes.address.copy()
    address[made.storages.node[-1]] = OUTPUT
    return dataclasses.replace(made, nodes=dataclasses.replace(made.nodes, address=address))


def told(
    *at_call: str, moment: str = "loading-1", after: tuple[str, ...] = (MODEL,), text: str = LOADS
) -> list[Suspect]:
    call = census("\n".join([*at_call, MODEL]), step=0, moment=moment)
    later = census("\n".join(after), step=1)
    at_peak = peak(*after)
    sources = {"l.py": SourceFile("l.py", text, origin="yours")}
    return list(find_beside_state([call, later, at_peak], [Replay(STEPS, at_peak)], sources))


def test_what_a_model_loads_is_told_by_its_variable_where_no_step_needs_as_much() -> None:
    (found,) = told(STATE)

    assert (found.symptom, found.holder.name, found.retained_bytes) == ("peak", "state", 4 * MIB)
    assert (found.peak_bytes, found.peak_drop_bytes) == (8 * MIB, 3 * MIB)
    assert {BESIDE_STATE: "loading", GIVEN: True, UNREAD: True}.items() <= found.facts.items()


def test_what_the_variable_holds_beside_what_is_loaded_is_told_instead() -> None:
    (found,) = told(STATE, OTHER)

    assert (found.holder.name, found.retained_bytes, found.peak_drop_bytes) == ("state", 8 * MIB, 8 * MIB)
    assert GIVEN not in found.facts


def test_a_variable_that_is_read_after_the_call_is_not_said_to_be_unread() -> None:
    (found,) = told(STATE, OTHER, text=LOADS.replace("return net", "return net, state['epoch']"))

    assert UNREAD not in found.facts


def test_what_only_the_arguments_hold_is_told_by_the_line_that_calls() -> None:
    (found,) = told(TEMPORARY, "load(l.py:4).path -> str")

    assert (found.holder.name, found.holder.sites) == ("load_state_dict", (SourceLocation("l.py", 4, "load"),))
    assert (found.cut, found.path) == ((), ())


def test_what_an_argument_holds_that_an_attribute_leads_to_is_told_by_the_attribute() -> None:
    (found,) = told(
        "unseen -> dict#model -> ['weight'] tensor#w 4MiB serial=4 input",
        "load(l.py:4).self -> Loader -> .checkpoint dict -> ['model'] dict#model -> ['weight'] tensor#w",
    )

    assert (found.holder.kind, found.holder.name) == ("attribute", "checkpoint")


def test_a_call_that_saves_is_told_of_what_it_is_given_alone() -> None:
    (found,) = told(STATE, OTHER.replace(".state", ".batch"), moment="saving-1")

    assert (found.holder.name, found.retained_bytes, found.facts[BESIDE_STATE]) == ("state", 4 * MIB, "saving")


def test_nothing_is_told_where_a_step_needs_as_much_or_the_memory_stays_or_no_step_was_seen() -> None:
    kept = "main(t.py:3).kept -> tensor 12MiB serial=8"
    call = census("\n".join([MODEL, STATE]), moment="loading-1", step=0)

    assert told(STATE, after=(MODEL, kept)) == []
    assert told(STATE, after=(MODEL, STATE.replace("load(l.py:4)", "f(t.py:3)"))) == []
    assert find_beside_state([call, census(MODEL)], [], {}) == ()
    assert find_beside_state([peak(MODEL), call], [Replay(STEPS, peak(MODEL))], {}) == ()
