"""The user's own statement behind a line of a library: `weakref.finalize(engine, flush)` fills a table elsewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tenure.analysis.sites.logged_values import is_of_logging, logged_values
from tenure.analysis.sites.site_search import bindings_of, place_at
from tenure.errors import SourceError
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference
from tenure.syntax.text.file_nodes import nodes_in, nodes_of
from tenure.syntax.text.scopes import loops_around, parse
from tenure.syntax.text.store_calls import GROWING_METHODS
from tenure.syntax.text.tree_walks import walk

_SAID_OF_MUCH = GROWING_METHODS | {"forward", "step", "run", "get", "set", "start", "backward", "load", "clear", "pop"}
"""Names of methods that so many classes have that a call by one of them tells nothing."""


def by_the_users_call(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> HoldingReference:
    """The reference, named by the function of a library that made it and placed at the user's own calls of it.

    A method whose name tells nothing counts where it is called on what the reference's owner goes by, which then
    keeps its name: `auroc.update(x)` for `auroc.preds`, or else `auroc(x)`, or else a method that in the end calls that
    one: `accelerator.prepare(model)` for what `Accelerator.prepare_model` appends. As it is where its best statement
    is the user's already, where no file of the user's makes such a call, and where it is a cached function's
    definition.
    """
    if not reference.sites and _is_buffer_of_own_handler(reference, sources):
        return _by_the_logging_call(reference, sources)
    source = sources.get(reference.sites[0].file) if reference.sites else None
    if source is None or source.origin == "yours" or reference.kind == "cache":
        return reference
    inside = reference.sites[:1]
    if is_of_logging(source.path) and (logged := _by_the_logging_call(reference, sources)) != reference:
        return logged
    name = _called_as(inside[0].function)
    calls = tuple(_calls_of(name, sources)) if name else ()
    if calls:
        return replace(reference, name=name, sites=calls, library_sites=inside)
    calls = tuple(_given_by_derived(reference, sources))
    if calls:
        return replace(reference, sites=calls)
    calls = tuple(_calls_on_owner(reference, sources)) or tuple(_calls_that_lead_there(reference, source, sources))
    return replace(reference, sites=calls, library_sites=inside) if calls else reference


def _by_the_logging_call(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> HoldingReference:
    name, calls = logged_values(sources)
    return replace(reference, name=name, sites=calls, library_sites=reference.sites[:1]) if calls else reference


def _is_buffer_of_own_handler(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> bool:
    """The records of a handler whose class is the user's, derived from one of `logging` that keeps them."""
    class_name = reference.owner_type.rpartition(".")[2]
    if reference.name != "buffer" or not class_name:
        return False
    return any(
        each.name == class_name and any(_last_name(base).endswith("Handler") for base in each.bases)
        for source in sources.values()
        if source.origin == "yours" and class_name in source.text
        for each in nodes_of(source, ast.ClassDef)
    )


def _called_as(function: str) -> str:
    """What a caller writes: the class of a constructor, the last name of a public function; "" of any other."""
    owner, _, name = function.rpartition(".")
    if name in ("__init__", "__new__"):
        name = owner.rpartition(".")[2]
    return "" if name.startswith(("_", "<")) or name in _SAID_OF_MUCH else name


def _calls_of(name: str, sources: Mapping[str, SourceFile]) -> Iterator[SourceLocation]:
    """First those of a loop, then those that give most: `add_event_handler(event, function, outputs)`."""
    return _places(name, sources, lambda call: _name_of(call) == name, weight=lambda call: len(call.args))


def _given_by_derived(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> Iterator[SourceLocation]:
    """`super().__init__(factory=self.make)` in a class of the user's, for the attribute `factory` that the constructor
    of the library's class sets."""
    owner, _, method = reference.sites[0].function.rpartition(".")
    if method != "__init__" or reference.kind not in ("attribute", "cycle"):
        return
    for source in sources.values():
        if source.origin == "yours" and owner in source.text and reference.name in source.text:
            derived = (each for each in nodes_of(source, ast.ClassDef) if owner in map(_last_name, each.bases))
            calls = (node for each in derived for node in walk(each) if isinstance(node, ast.Call))
            for call in calls:
                given = any(keyword.arg == reference.name for keyword in call.keywords)
                if given and isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
                    yield place_at(source, call.lineno)


def _calls_on_owner(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> Iterator[SourceLocation]:
    """Calls of the method that made the reference, on an owner of the same name; else of methods that fill something
    (`waiting.put(x)`, where a private method stores); else calls of the owner itself. What is called on a list is not
    called on an item of it."""
    of_class, _, method = reference.sites[0].function.rpartition(".")
    owner, bracket, _ = _outside_of_private(owner_of(reference)).rpartition(".")[2].partition("[")
    if not of_class or not owner or owner in ("self", "cls"):
        return

    def called(*names: str) -> tuple[SourceLocation, ...]:
        def fits(call: ast.Call) -> bool:
            item = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Subscript)
            return _name_of(call) in names and _receiver_of(call) == owner and (item or not bracket)

        return tuple(_places(owner, sources, fits))

    found = called(method) or (*called(*GROWING_METHODS), *_stores_by_key(reference, owner, sources))
    yield from found or (each for each in _places(owner, sources, lambda call: _name_of(call) == owner)
                         if not _is_of_a_module(sources[each.file], each.line, owner))  # fmt: skip


def _outside_of_private(owner: str) -> str:
    """`replay.hard` of `replay.hard._storage`: what a library's object has for itself is filled by calls of that."""
    while "._" in owner and owner.rpartition(".")[2].startswith("_"):
        owner = owner.rpartition(".")[0]
    return owner


def _is_of_a_module(source: SourceFile, line: int, name: str) -> bool:
    """`torch.stack(parts)`, which is no call of what the program has as `stack`."""
    imported = {each.name for each in bindings_of(source) if each.kind == "import"}
    calls = (each for each in _calls_in(source) if each.lineno == line and _name_of(each) == name)
    return all(_receiver_of(call) in imported for call in calls)


def _stores_by_key(
    reference: HoldingReference, owner: str, sources: Mapping[str, SourceFile]
) -> Iterator[SourceLocation]:
    """`owner[key] = value`, where a library's class of the owner stores in its `__setitem__`."""
    if not any(site.function.endswith(".__setitem__") for site in reference.sites):
        return
    for source in sources.values():
        if source.origin == "yours" and owner in source.text:
            for line in sorted(line for line, stored_in in _subscript_stores(source) if stored_in == owner):
                yield place_at(source, line)


def _subscript_stores(source: SourceFile) -> Iterator[tuple[int, str]]:
    """Line and last name of what is stored in, of each assignment to a subscript."""
    for node in nodes_in(source):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Subscript):
                    yield node.lineno, _last_name(target.value)


def _calls_that_lead_there(
    reference: HoldingReference, library: SourceFile, sources: Mapping[str, SourceFile]
) -> Iterator[SourceLocation]:
    """The user's calls, on an owner of the same name, of methods of its class that call one that made the reference."""
    owner = owner_of(reference).rpartition(".")[2]
    if not owner or owner in ("self", "cls"):
        return
    made_by = [site.function for site in reference.sites if site.file == library.path]
    leading = _methods_that_call(library, made_by)
    yield from _places(owner, sources, lambda call: _receiver_of(call) == owner and _name_of(call) in leading)


def _methods_that_call(library: SourceFile, made_by: Sequence[str]) -> set[str]:
    """Public methods of a class that reach, by `self.method`, one of the methods `made_by` of it ("Class.method")."""
    of_class = made_by[0].rpartition(".")[0]
    uses = _uses_of_self(library, of_class)
    found = {function.rpartition(".")[2] for function in made_by if function.rpartition(".")[0] == of_class}
    while more := {method for method, used in uses.items() if used & found} - found:
        found |= more
    return {method for method in found if not method.startswith("_")}


def _uses_of_self(library: SourceFile, of_class: str) -> dict[str, set[str]]:
    """Per method of a class: what it reads of `self`; empty where the file has no such class."""
    try:
        tree = parse(library)
    except SourceError:
        return {}
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == of_class)
    body = next((node.body for node in classes), [])
    return {
        method.name: {
            inner.attr
            for inner in ast.walk(method)
            if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "self"
        }
        for method in body
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


def owner_of(reference: HoldingReference) -> str:
    """The object that has the container, as the program knows it: `auroc` of `auroc.preds[*]`; "" of a variable."""
    if reference.kind != "attribute" or not reference.name:
        return ""
    found = re.match(rf"(.*\S)\.{re.escape(reference.name)}\b", reference.expression)
    return found[1] if found else ""


def _places(
    word: str,
    sources: Mapping[str, SourceFile],
    fits: Callable[[ast.Call], bool],
    *,
    weight: Callable[[ast.Call], int] = lambda call: 0,
) -> Iterator[SourceLocation]:
    """The user's own calls that fit, over the files in which `word` occurs; those that give nothing but constants come
    last, and of the others those that a loop runs first, then those of most `weight`."""
    found = [
        (_gives_only_constants(call), not loops_around(source, call.lineno), -weight(call), source, call.lineno)
        for source in sources.values()
        if source.origin == "yours" and word in source.text
        for call in _one_by_line(filter(fits, _calls_in(source)))
    ]
    for *_, source, line in sorted(found, key=lambda each: each[:3]):
        yield place_at(source, line)


def _one_by_line(calls: Iterable[ast.Call]) -> list[ast.Call]:
    return [call for _, call in sorted({call.lineno: call for call in calls}.items())]


def _gives_only_constants(call: ast.Call) -> bool:
    """`waiting.put(None)`, `waiting.put(STOP)`: what ends a queue, and is no memory that it keeps."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return bool(given) and all(isinstance(each, ast.Constant) or _last_name(each).isupper() for each in given)


def _calls_in(source: SourceFile) -> list[ast.Call]:
    return [node for node in nodes_in(source) if isinstance(node, ast.Call)]


def _name_of(call: ast.Call) -> str:
    return _last_name(call.func)


def _receiver_of(call: ast.Call) -> str:
    return _last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _last_name(node: ast.expr) -> str:
    """`auroc` of `auroc`, `self.auroc` and `self.auroc['val']`; "" of anything else."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return str(getattr(node, "attr", "") or getattr(node, "id", ""))
