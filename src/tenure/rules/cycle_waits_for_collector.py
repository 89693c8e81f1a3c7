"""TN301: tensor memory is held by a reference cycle that nothing else reaches, until the collector runs."""

import dataclasses

from tenure.model.experiment import CONFIRMED_SHARE
from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import OWN_HOOK, Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim

_BREAK_IT = (
    "break the ring: hold the owner weakly (`weakref.ref`, `weakref.proxy`), pass it as an argument, or set the "
    "reference to None when done; do not copy objects that refer back to their owner"
)
_COLLECT = (
    "`gc.collect()` every few steps, where such objects are made: no statement of the program's own closes the ring; "
    "or change the object in place, so that no other is made"
)
_MAKE_ONE = (
    "make such an object once and use it again, as a metric by its `reset()`; or call `gc.collect()` every few steps: "
    "the ring is inside of it"
)
_PACK_DETACHED = (
    "let the pack hook return `tensor.detach()`: a graph node that saves its own result as it is refers to itself"
)
LEAST_BYTES = 1 << 10
"""A ring of a few numbers that does not get more of them is not told at all."""
NOTABLE_BYTES = 64 << 10
NOTABLE_PACE = 16 << 10
"""Bytes per step. A ring of less, that comes to less, is what a library leaves for the collector on purpose: a hint."""
_FREES_IT = "only the cyclic collector frees it."
_MAY_NOT = "C++ code owns part of it too, so that the cyclic collector may not free it."
_DOES_NOT = "C++ code owns part of it too, so that not even a collection frees it."


def check_suspect(suspect: Suspect) -> Finding | None:
    """No root reaches the memory; the ring that keeps it is known, and no tensor's hook is part of it."""
    if not suspect.cyclic or OWN_HOOK in suspect.facts or _is_next_to_nothing(suspect):
        return None
    packed = bool(suspect.facts.get("packed_as_it_is"))
    name = suspect.holder.expression or suspect.holder.name
    closes = f"The pack hook of `{name}` gives tensors back as they are, which" if packed else f"`{name}`"
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{closes} closes a reference cycle that holds "
        f"{format_bytes(suspect.retained_bytes)} no one can use any more; "
        f"{_MAY_NOT if suspect.facts.get('owned_by_cpp_too') else _FREES_IT}",
        remedies=(_PACK_DETACHED if packed else _remedy(suspect),),
        at_most="certain" if _comes_to_much(suspect) else "possible",
    )


def _remedy(suspect: Suspect) -> str:
    if suspect.holder.library_sites:
        return _MAKE_ONE
    return _BREAK_IT if suspect.holder_is_yours else _COLLECT


def _is_next_to_nothing(suspect: Suspect) -> bool:
    grows = (suspect.growth_bytes_per_step or 0) >= 1
    return suspect.retained_bytes < LEAST_BYTES and not grows and not suspect.num_graph_nodes


def _comes_to_much(suspect: Suspect) -> bool:
    return suspect.retained_bytes >= NOTABLE_BYTES or (suspect.growth_bytes_per_step or 0) >= NOTABLE_PACE


def retell(finding: Finding) -> Finding:
    """The finding, saying of the collector what a collection in a copy of the process did."""
    tried = (item for item in finding.evidence if item.get("kind") == "experiment" and item.get("done") == "collect")
    result = next((item for item in tried if item.get("freed_bytes") is not None), None)
    if result is None:
        return finding
    said = finding.message.removesuffix(_FREES_IT).removesuffix(_MAY_NOT)
    return dataclasses.replace(finding, message=said + _what_it_did(result["freed_bytes"], result["predicted_bytes"]))


def _what_it_did(freed: int, predicted: int) -> str:
    if freed >= CONFIRMED_SHARE * predicted:
        return _FREES_IT
    if freed <= (1 - CONFIRMED_SHARE) * predicted:
        return _DOES_NOT
    return f"a collection frees {format_bytes(freed)} of {format_bytes(predicted)}, the rest C++ code owns too."


RULE = Rule(
    code="TN301",
    name="cycle-waits-for-collector",
    summary="Memory sits in reference cycles until the garbage collector happens to run.",
    check_suspect=check_suspect,
    priority=20,
    edit="without-traceback",
    retell=retell,
)
