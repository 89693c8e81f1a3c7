"""The user's own statement behind a record that a handler of `logging` keeps: the call that logged more than text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath

from tenure.analysis.sites.own_program import own_program
from tenure.analysis.sites.site_search import place_at
from tenure.model.source import SourceFile, SourceLocation
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.kinds import Kind
from tenure.syntax.values.tensor_values import tensor_values

_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception"})
_PLAIN = frozenset(
    ["item", "len", "round", "float", "int", "str", "repr", "join", "format", "tolist", "sum", "min", "max"]
)
"""Functions that give numbers and text."""
_FORMAT = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?([a-zA-Z%])")


def is_of_logging(path: str) -> bool:
    """Whether a file is one of the standard library's `logging`."""
    return PurePath(path).parent.name == "logging" and PurePath(path).name in ("__init__.py", "handlers.py")


def logged_values(sources: Mapping[str, SourceFile]) -> tuple[str, tuple[SourceLocation, ...]]:
    """Calls of loggers whose record refers to objects of the program, and what the first of them gives: `loss` of
    `log.debug("loss %s", loss)`, `exc_info` of one that logs an error with its frames; before all others those that
    give what the text knows for a tensor. Where none gives one so, `brief` of `log.debug("%s", brief(loss))`, or else
    what is written as a fraction, `%.3f`, as tensors are too."""
    for name, kinds in ((_name, "sra"), (_called, "sra"), (_name, "eEfFgG")):
        found = sorted(_calls(sources, name, kinds), key=lambda each: (not each[1], each[2].file, each[2].line))
        if found:
            return found[0][0], tuple(site for _, _, site in found)
    return "", ()


def _calls(
    sources: Mapping[str, SourceFile], name: Callable[[ast.expr], str], kinds: str
) -> Iterator[tuple[str, bool, SourceLocation]]:
    """What is given, whether that is known for a tensor, and where."""
    for source in sources.values():
        if source.origin != "yours" or "log" not in source.text:
            continue
        for call in (each for each in nodes_in(source) if isinstance(each, ast.Call)):
            if given := _given(call, name, kinds):
                tensors = [text for text, value in given if value is not None and _is_tensor(sources, source, value)]
                yield next(iter(tensors), given[0][0]), bool(tensors), place_at(source, call.lineno)


def _is_tensor(sources: Mapping[str, SourceFile], source: SourceFile, value: ast.expr) -> bool:
    program = own_program(sources)
    function = program.names.innermost_at(source, value.lineno)
    return function is not None and tensor_values(program).kind(value, function) is not Kind.NOTHING


def _given(call: ast.Call, name: Callable[[ast.expr], str], wanted: str) -> list[tuple[str, ast.expr | None]]:
    """What a call of a logger hands over to be written in a `wanted` way, by name; nothing of every other call."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _LEVELS | {"log"} or not call.args:
        return []
    message, *values = call.args[1:] if call.func.attr == "log" else call.args
    text = _text(message)
    if text is None:
        return []
    if call.func.attr == "exception" or any(word.arg == "exc_info" for word in call.keywords):
        return [("exc_info", None)]
    kinds = [kind for kind in _FORMAT.findall(text) if kind != "%"]
    kinds += ["s"] * (len(values) - len(kinds))
    return [(name(value), value) for value, kind in zip(values, kinds, strict=False) if kind in wanted and name(value)]


def _text(message: ast.expr) -> str | None:
    """A message as it stands in the source, "" of an f-string; None of anything that is no text."""
    if isinstance(message, ast.Constant) and isinstance(message.value, str):
        return message.value
    return "" if isinstance(message, ast.JoinedStr) else None


def _name(value: ast.expr) -> str:
    """The last name of what is handed over; a call makes something new, mostly a number."""
    return str(getattr(value, "attr", "") or getattr(value, "id", "")) if not isinstance(value, ast.Call) else ""


def _called(value: ast.expr) -> str:
    """The function whose result is handed over."""
    function = called_name(value) if isinstance(value, ast.Call) else ""
    return "" if function in _PLAIN else function
