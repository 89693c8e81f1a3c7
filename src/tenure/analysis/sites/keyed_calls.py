"""The user's call behind entries that a library makes deep inside: the one that gives the keys which they come under.

`model.add_adapter(f"task{task}", config)` lets PEFT store a layer under 'task7' in a table of each module that it
adapts; no name of the program leads there, but the text of the key does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tenure.analysis.heap.graph import unquoted
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Hop
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.scopes import dotted, enclosing_function

LEAST_KEYS = 2
"""So many of the keys must fit what a call gives: one alone may by chance."""
LEAST_TEXT = 2
"""Letters that a key's text has beside what is filled in."""
_RECORDING = ("record", "log", "add", "put", "store", "track", "append", "save", "push", "write")
_ADDING = ("add", "load", "create", "register", "inject", "attach", "insert", "make", "new", "init")


def by_the_call_that_gives_the_keys(
    reference: HoldingReference, keys: object, sources: Mapping[str, SourceFile]
) -> HoldingReference:
    """The reference, named by the called function and placed at the user's calls that give a formatted text which fits
    the keys, by itself or by a variable of the function, first those whose name says that something is added. As it is
    where its best statement is the user's and not one that merely calls into the library."""
    source = sources.get(reference.sites[0].file) if reference.sites else None
    in_library = source is not None and (source.origin != "yours" or bool(reference.library_sites))
    if not in_library or not isinstance(keys, list):
        return reference
    texts = [unquoted(str(key)) for key in keys]
    found = [(path, call) for path, each in sources.items() for call in _calls_with(each, texts)]
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
        SourceLocation(source.path, node.lineno, enclosing_function(source, node.lineno))
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


def _calls_with(source: SourceFile, keys: Sequence[str]) -> Iterator[ast.Call]:
    """Calls of methods in a file of the user's that are given a text that at least two of the keys fit."""
    if source.origin != "yours":
        return
    texts = _formatted_variables(source)
    for node in nodes_in(source):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            written = [each for each in given if isinstance(each, ast.JoinedStr)]
            if named := texts.keys() & set(map(dotted, given)):
                function = enclosing_function(source, node.lineno)
                written += [texts[name][function] for name in sorted(named) if function in texts[name]]
            patterns = [_pattern(each) for each in written]
            if any(pattern and sum(bool(re.fullmatch(pattern, key)) for key in keys) >= LEAST_KEYS
                   for pattern in patterns):  # fmt: skip
                yield node


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
