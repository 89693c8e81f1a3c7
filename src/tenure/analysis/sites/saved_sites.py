"""Where a custom autograd Function saves what its node keeps: its `ctx.save_for_backward(...)`."""

from __future__ import annotations

from collections.abc import Iterator

from tenure.analysis.sites.site_search import LIKELY, SURE, RankedSite, Sought, calls_of
from tenure.model.source import SourceLocation

_METHOD = "save_for_backward"
_NODE = "Backward"


def saves_for_backward(sought: Sought) -> Iterator[RankedSite]:
    """The calls in the class that the node's type is named after, which autograd calls `FBackward` for a Function `F`;
    of the program's files rather than a library's."""
    function = sought.reference.owner_type.rpartition(".")[2].removesuffix(_NODE)
    for path, source in sought.sources.items():
        if _METHOD in source.text and f"class {function}" in source.text:
            for call in calls_of(source):
                if call.callee.endswith(f".{_METHOD}") and function in call.function.split("."):
                    place = SourceLocation(path, call.line, call.function)
                    yield RankedSite(place, call.end_line, SURE if source.origin == "yours" else LIKELY)
