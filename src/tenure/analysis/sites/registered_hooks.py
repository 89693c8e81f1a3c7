"""Hooks told by the call that registers them, `node.register_hook(credit)`: those of autograd nodes and rings through
hooks wholly, all others by its name.

What a census shows of them is a function in a table; the call is the line to change.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tenure.analysis.heap.graph import is_hook_table
from tenure.analysis.sites.site_search import bindings_of
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import NODE_HOOK, OWN_HOOK, HoldingReference, Hop, Suspect
from tenure.syntax.text.bindings import Binding
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.scopes import dotted

_LOCALS = ".<locals>"
_LAMBDA = "<lambda>"
_OF_FUNCTIONS = ("CELL", "DEFAULT")


def by_the_registration(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect, told by the call that registers a function of the program's, where what grows hangs on functions
    that C++ keeps for an autograd node, or where a ring goes through the hook of a tensor or module that its function
    closes over; the suspect itself where no call names that function. A lambda goes by the call that is given one in
    the function where it was made.

    What is to be dropped stays, but for hooks of a node: there it is the hooks themselves.
    """
    of_node = suspect.grows and NODE_HOOK in suspect.facts
    if not of_node and not (suspect.cyclic and _goes_through_hooks(suspect)):
        return suspect
    closes = next((hop.source_name for hop in suspect.path if hop.source_type == "function"), "")
    function = str(suspect.facts.get(NODE_HOOK, closes))
    calls = list(_registrations(function, sources, "yours")) or list(_registrations(function, sources, "library"))
    if not calls:
        return suspect
    as_hook = of_node or _is_entry_of_hooks(suspect.path[0])
    told = calls[0].expression if as_hook else suspect.holder.expression
    holder = replace(calls[0], kind=calls[0].kind if of_node else suspect.holder.kind, expression=told)
    return replace(suspect, holder=holder, cut=(holder,) if of_node else suspect.cut, ambiguous=len(calls) > 1)


def by_the_calls_name(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect; hooks whose table does not say how they came there (tensors have one for two kinds) go by the name
    of the call that registers them: `register_post_accumulate_grad_hook`; those whose handle the same statement puts
    into an attribute or a table by that, which has the last one alone: `self.handle = layer.register_hook(f)`."""
    holder = suspect.holder
    source = sources.get(holder.sites[0].file) if holder.kind == "hook" and holder.sites else None
    if source is None or not holder.name.startswith("_"):
        return suspect
    line = holder.sites[0].line
    if suspect.grows and (handle := _handle_at(source, line)):
        return replace(suspect, holder=replace(holder, name=handle))
    called = {binding.method for binding in bindings_of(source) if binding.kind == "hook" and binding.line == line}
    return replace(suspect, holder=replace(holder, name=called.pop())) if len(called) == 1 else suspect


def _handle_at(source: SourceFile, line: int) -> str:
    """The attribute or table that gets what a method `register_..._hook` at a line gives back, or a list of such; ""
    where none does."""
    for node in nodes_of(source, ast.Assign):
        target = node.targets[0]
        if isinstance(target, (ast.Attribute, ast.Subscript)) and line in map(_line_of_registration, _made(node.value)):
            return dotted(target).removesuffix("[]").rpartition(".")[2]
    return ""


def _made(value: ast.expr) -> Sequence[ast.expr]:
    """A value, or what a list, tuple or comprehension has as elements."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return value.elts
    if isinstance(value, ast.DictComp):
        return [value.value]
    return [value.elt if isinstance(value, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) else value]


def _line_of_registration(value: ast.expr) -> int:
    """Of a call `register_...`; 0 of all else."""
    called = value.func if isinstance(value, ast.Call) else None
    registers = isinstance(called, ast.Attribute) and called.attr.startswith("register_")
    return value.lineno if registers else 0


def _goes_through_hooks(suspect: Suspect) -> bool:
    """Whether a ring leads from what a function closes over, or has as a default, to a hook, or from a table of hooks;
    it begins with what is to be dropped."""
    of_module = any(is_hook_table(hop.label.strip("'\"")) for hop in suspect.path)
    begins = any(hop.kind in _OF_FUNCTIONS or _is_entry_of_hooks(hop) for hop in suspect.path[:1])
    return (OWN_HOOK in suspect.facts or of_module) and begins


def _is_entry_of_hooks(hop: Hop) -> bool:
    """Whether a table has it by the number of a handle, as a tensor has its hooks."""
    return hop.kind == "ITEM" and hop.source_type == "collections.OrderedDict" and hop.label.isdigit()


def _registrations(function: str, sources: Mapping[str, SourceFile], origin: str) -> Iterator[HoldingReference]:
    around, _, name = function.rpartition(".")
    if not name.isidentifier() and name != _LAMBDA:
        return
    scope = around.removesuffix(_LOCALS) if around.endswith(_LOCALS) else ""
    maker = scope.rpartition(".")[2]
    for path, source in sources.items():
        if source.origin != origin or not any(word in source.text for word in (name.strip("<>"), maker) if word):
            continue
        made = bindings_of(source)
        for binding in made:
            inside = not scope or binding.function == scope or binding.function.startswith(f"{scope}{_LOCALS}")
            named = inside and _is_of(binding, name, made)
            if binding.kind == "hook" and (named or (maker and _is_made_by(binding, maker, made))):
                place = SourceLocation(path, binding.line, binding.function)
                called = name if named else maker
                told = binding.method if called == _LAMBDA else called
                yield HoldingReference("hook", told, f"{binding.method}({called})", sites=(place,), calls=function)


def _is_of(binding: Binding, name: str, made: Sequence[Binding]) -> bool:
    """Whether a call registers a function of that name, or something made of it: `partial(self.done, 3)`, there or in a
    statement before."""
    return binding.name == name or any(re.search(rf"\b{name}\b", text) for text in _texts(binding, made))


def _is_made_by(binding: Binding, maker: str, made: Sequence[Binding]) -> bool:
    """Whether a call registers what a function gives back: `register_hook(make_hook(self))`, there or in a statement
    before."""
    return any(re.search(rf"\b{maker}\(", text) for text in _texts(binding, made))


def _texts(binding: Binding, made: Sequence[Binding]) -> list[str]:
    """What a call registers, and what the variable of that name was bound to."""
    bound = (each.value_text for each in made if (each.name, each.function) == (binding.name, binding.function))
    return [binding.value_text, *bound]
