"""Hooks of tensors and of autograd nodes, told by the call that registers them: `node.register_hook(credit)`.

What a census shows of them is a function in a table that no name leads to; the call has the function's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.analysis.heap.wording import NODE_HOOKS
from tenure.analysis.sites.site_search import bindings_of
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import OWN_HOOK, HoldingReference, Suspect
from tenure.syntax.text.bindings import Binding

_METHODS = frozenset({"register_hook", "register_prehook", "register_post_accumulate_grad_hook"})
_CALLED = ("function", "method")
_LOCALS = ".<locals>"


def by_the_registration(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect, told by the call that registers a function of the program's, where what grows hangs on functions
    that C++ keeps for an autograd node, or where a ring goes through the hook of a tensor that its function closes
    over; the suspect itself where no call names that function, as where it is a lambda.

    What is to be dropped stays, but for hooks of a node: there it is the hooks themselves.
    """
    root = suspect.path_text[0] if suspect.path_text else ""
    of_node = suspect.grows and root.startswith(NODE_HOOKS)
    if not of_node and not (suspect.cyclic and OWN_HOOK in suspect.facts):
        return suspect
    function = next((hop.source_name for hop in suspect.path if hop.source_type in _CALLED), "")
    calls = list(_registrations(function, sources))
    if not calls:
        return suspect
    holder = calls[0] if of_node else replace(calls[0], kind=suspect.holder.kind, expression=suspect.holder.expression)
    return replace(suspect, holder=holder, cut=(holder,) if of_node else suspect.cut, ambiguous=len(calls) > 1)


def _registrations(function: str, sources: Mapping[str, SourceFile]) -> Iterator[HoldingReference]:
    around, _, name = function.rpartition(".")
    if not name.isidentifier():
        return
    scope = around.removesuffix(_LOCALS) if around.endswith(_LOCALS) else ""
    for path, source in sources.items():
        if source.origin != "yours" or name not in source.text:
            continue
        for binding in bindings_of(source):
            inside = not scope or binding.function == scope or binding.function.startswith(f"{scope}{_LOCALS}")
            if binding.kind == "hook" and binding.method in _METHODS and inside and _is_of(binding, name):
                place = SourceLocation(path, binding.line, binding.function)
                yield HoldingReference("hook", name, f"{binding.method}({name})", sites=(place,), calls=function)


def _is_of(binding: Binding, name: str) -> bool:
    """Whether a call registers a function of that name, or something made of it: `partial(self.done, 3)`."""
    return binding.name == name or re.search(rf"\b{name}\b", binding.value_text) is not None
