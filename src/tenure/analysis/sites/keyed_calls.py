"""The user's call behind entries that a library makes deep inside: the one that gives the keys which they come under.

`model.add_adapter(f"task{task}", config)` lets PEFT store a layer under 'task7' in a table of each module that it
adapts; no name of the program leads there, but the text of the key does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tenure.analysis.heap.graph import unquoted
from tenure.analysis.sites.site_search import place_at
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Hop
from tenure.syntax.text.expressions import called_name, parameters_by_place
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.scopes import dotted, enclosing_function

LEAST_KEYS = 2
"""So many of the keys must fit what a call gives: one alone may by chance."""
MOST_HANDS = 5
"""A text is followed through so many calls."""
LEAST_TEXT = 2
"""Letters that a key's text has beside what is filled in."""
_RECORDING = ("record", "log", "add", "put", "store", "track", "append", "save", "push", "write")
_ADDING = ("add", "load", "create", "register", "inject", "attach", "insert", "make", "new", "init")


def by_the_call_that_gives_the_keys(
    reference: HoldingReference, keys: object, sources: Mapping[str, SourceFile]
) -> HoldingReference:
    """The reference, named by the called function and placed at the user's calls that give a formatted text which fits
    the keys, by itself, by a variable or by a parameter, first those whose name says that something is added; calls of
    the program's own functions only where none of a library is given it. As it is where its best statement is the
    user's and not one that merely calls into the library."""
    source = sources.get(reference.sites[0].file) if reference.sites else None
    in_library = source is not None and (source.origin != "yours" or bool(reference.library_sites))
    if not in_library or not isinstance(keys, list):
        return reference
    texts = [unquoted(str(key)) for key in keys]
    given = _calls_given(texts, {path: each for path, each in sources.items() if each.origin == "yours"})
    found = [(each.path, each.node) for each in given if not each.is_own] or [(each.path, each.node) for each in given]
    if not found:
        return reference
    found.sort(key=lambda each: (not called_name(each[1]).startswith(_ADDING), each[0], each[1].lineno))
    name = called_name(found[0][1])
    sites = tuple(
        SourceLocation(path, call.lineno, enclosing_function(sources[path], call.lineno))
        for path, call in found
        if called_name(call) == name
    )
    return replace(reference, name=name, sites=sites, library_sites=reference.library_sites or reference.sites[:1])


def by_the_call_that_names_the_entry(
    reference: HoldingReference, path: Sequence[Hop], sources: Mapping[str, SourceFile]
) -> HoldingReference:
    """The reference, placed at the user's calls that record a value under the text that the path ends by, as
    `history.record_batch("y_pred", y)` where rows of a library's history grow by their 'y_pred'. As it is where its
    best statement is the user's own and not one that merely calls into the library."""
    if not reference.library_sites or not reference.element:
        return reference
    keys = [unquoted(hop.label) for hop in path if hop.kind == "ITEM" and hop.label != unquoted(hop.label)]
    if not keys or len(keys[-1]) < LEAST_TEXT:
        return reference
    sites = tuple(
        place_at(source, node.lineno)
        for source in sources.values()
        if source.origin == "yours" and keys[-1] in source.text
        for node in nodes_in(source)
        if isinstance(node, ast.Call) and _records(node, keys[-1])
    )
    return replace(reference, sites=sites) if sites else reference


def _records(call: ast.Call, key: str) -> bool:
    """Whether a method that is named so is called with this text and something else."""
    if not isinstance(call.func, ast.Attribute) or len(call.args) < 2:
        return False
    first = call.args[0]
    return isinstance(first, ast.Constant) and first.value == key and call.func.attr.startswith(_RECORDING)


@dataclass(frozen=True)
class _Given:
    """A call of a method that is given such a text, in a file; `is_own`: by its name, of one of the program's own."""

    path: str
    node: ast.Call
    is_own: bool


Variable = tuple[str, str, str]
"""File, function and name."""


def _calls_given(keys: Sequence[str], yours: Mapping[str, SourceFile]) -> list[_Given]:
    """Calls of methods that are given a text that at least two of the keys fit, as often as it is handed on."""
    carrying = {
        (path, function, name)
        for path, source in yours.items()
        for name, texts in _formatted_variables(source).items()
        for function, text in texts.items()
        if _fits(text, keys)
    }
    functions = _functions_by_name(yours)
    found: list[_Given] = []
    for _ in range(MOST_HANDS):
        known = len(carrying)
        found = []
        for path, source in yours.items():
            for call, places in _giving(source, path, keys, carrying):
                called = functions.get(called_name(call), [])
                carrying |= {parameter for each in called for place in places for parameter in each.bound_to(place)}
                if isinstance(call.func, ast.Attribute):
                    found.append(_Given(path, call, bool(called)))
        if len(carrying) == known:
            break
    return found


def _giving(
    source: SourceFile, path: str, keys: Sequence[str], carrying: Collection[Variable]
) -> Iterator[tuple[ast.Call, list[int | str]]]:
    """Calls in a file with the places and names of their arguments that are such a text."""
    names = {name for _, _, name in carrying}
    for node in nodes_in(source):
        if not isinstance(node, ast.Call):
            continue
        given: list[tuple[int | str, ast.expr]] = [
            *enumerate(node.args),
            *((each.arg or "", each.value) for each in node.keywords),
        ]
        texts = [place for place, value in given if isinstance(value, ast.JoinedStr) and _fits(value, keys)]
        if any(dotted(value) in names for _, value in given):
            function = enclosing_function(source, node.lineno)
            texts += [place for place, value in given if (path, function, dotted(value)) in carrying]
        if texts:
            yield node, texts


@dataclass(frozen=True)
class _Function:
    """A function of the program's own, with its parameters but `self`."""

    path: str
    name: str
    parameters: tuple[str, ...]

    def bound_to(self, place: int | str) -> Iterator[Variable]:
        """The parameter that an argument of a call comes under."""
        if isinstance(place, str) and place in self.parameters:
            yield self.path, self.name, place
        elif isinstance(place, int) and place < len(self.parameters):
            yield self.path, self.name, self.parameters[place]


def _functions_by_name(yours: Mapping[str, SourceFile]) -> dict[str, list[_Function]]:
    found: dict[str, list[_Function]] = {}
    for path, source in yours.items():
        for node in nodes_in(source):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                own = _Function(path, enclosing_function(source, node.lineno), tuple(parameters_by_place(node)))
                found.setdefault(node.name, []).append(own)
    return found


def _fits(text: ast.JoinedStr, keys: Sequence[str]) -> bool:
    pattern = _pattern(text)
    return bool(pattern) and sum(bool(re.fullmatch(pattern, key)) for key in keys) >= LEAST_KEYS


def _formatted_variables(source: SourceFile) -> dict[str, dict[str, ast.JoinedStr]]:
    """By name and function, variables that are bound to a formatted text: `name = f"tenant{tenant}"`."""
    found: dict[str, dict[str, ast.JoinedStr]] = {}
    for node in nodes_in(source):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.JoinedStr):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, {})[enclosing_function(source, node.lineno)] = node.value
    return found


def _pattern(text: ast.JoinedStr) -> str:
    """What a formatted text may come out as; "" where next to nothing of it is written."""
    written = [each.value for each in text.values if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if sum(map(len, written)) < LEAST_TEXT:
        return ""
    return "".join(re.escape(str(each.value)) if isinstance(each, ast.Constant) else ".+" for each in text.values)
