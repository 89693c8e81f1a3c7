"""What to do about a library's own object that keeps what the program gives it: its call that lets go, mostly."""

from __future__ import annotations

import dataclasses

from tenure.analysis.sites.library_calls import owner_of
from tenure.model.finding import Finding, Remedy
from tenure.model.suspect import Suspect

_CALLS = {
    "accelerate.accelerator.Accelerator": "`{owner}.free_memory(model, optimizer)` when they are done with: it empties "
    "the tables of all that was prepared and returns a None for each name to be bound to",
}
"""By the type of the object that has the table; checked against the library's source."""
_KEEPS = {
    "itertools.cycle": "`while True: yield from loader` in a function: `itertools.cycle` keeps all that the first pass "
    "gave, and gives the same again instead of asking the loader",
    "itertools._tee_dataobject": "`itertools.tee` keeps what one of its copies has given and another has not: let them "
    "advance together, or make a list of what is needed",
    "unittest.mock.": "`reset_mock()` after each look: a mock keeps the arguments of every call; where the number of "
    "calls is all that is wanted, count in a function of your own",
}
"""By the type, or the module, of an object that keeps by itself what it is given."""


def with_library_call(finding: Finding, suspect: Suspect) -> Finding:
    """The finding, with what helps against that object as the first remedy, where that is known."""
    owner = owner_of(suspect.holder)
    known = _CALLS.get(suspect.holder.owner_type, "").format(owner=owner) if owner else ""
    kept_by = suspect.holder.inside or suspect.holder.owner_type
    known = known or next((text for types, text in _KEEPS.items() if kept_by.startswith(types)), "")
    return dataclasses.replace(finding, remedies=(Remedy(known), *finding.remedies)) if known else finding
