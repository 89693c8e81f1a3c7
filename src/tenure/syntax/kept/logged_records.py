"""Tensors that are logged where a handler keeps the records: a record has the arguments of its call, not their text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.syntax.program.functions import Function
from tenure.syntax.program.keeping import keeps_of
from tenure.syntax.program.lifetimes import lifetimes
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import runs_repeatedly
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.values.tensor_values import tensor_values

_LEVELS = ("debug", "info", "warning", "error", "critical", "exception", "log")
_LOGGER = re.compile(r"_*(log|logger|logging|journal)_*", re.I)
_RECEIVING = ("emit", "handle")


@dataclass(frozen=True)
class LoggedRecord:
    """`call` logs `value` as an argument."""

    function: Function
    call: ast.Call
    value: ast.expr


def find_logged_records(program: Program) -> Iterator[LoggedRecord]:
    """All of a program that has a handler which keeps its records. Costs a look at its handlers, and at its log calls
    where there is one."""
    if not any(map(_makes_memory_handler, program.functions)) and not _keeps_records(program):
        return
    values = tensor_values(program)
    for function in program.functions:
        for call in function.calls_of(*_LEVELS):
            if not _is_logger(program, call, function) or not runs_repeatedly(program, function, call):
                continue
            given = call.args[2:] if called_name(call) == "log" else call.args[1:]
            kept = next((each for each in given if values.kind(each, function)), None)
            if kept is not None:
                yield LoggedRecord(function, call, kept)


def _makes_memory_handler(function: Function) -> bool:
    return bool(function.calls_of("MemoryHandler"))


def _keeps_records(program: Program) -> bool:
    """Whether a handler of the program's own stores its records in a container that nothing empties or bounds."""
    life = lifetimes(program)
    for function in program.functions:
        if function.name not in _RECEIVING or function.owner is None or len(function.parameters) != 2:
            continue
        if not any(base.rpartition(".")[2].endswith("Handler") for base in function.owner.bases):
            continue
        for keep in keeps_of(function):
            is_record = isinstance(keep.value, ast.Name) and keep.value.id == function.parameters[1]
            origins = life.origins(keep.place, function) if is_record else []
            if origins and not any(life.is_emptied(*each) or life.is_bounded(*each) for each in origins):
                return True
    return False


def _is_logger(program: Program, call: ast.Call, function: Function) -> bool:
    """Whether a method is called of what `getLogger` gave, or of what is named as a logger is."""
    if not isinstance(call.func, ast.Attribute):
        return False
    name = dotted(call.func.value)
    top = program.names.top_with(name, function.source) if name and "." not in name else None
    bound = [value for _, value in (*function.bound.get(name, ()), *(top.bound[name] if top is not None else ()))]
    made = any(isinstance(each, ast.Call) and called_name(each) == "getLogger" for each in bound)
    return made or bool(_LOGGER.fullmatch(name.rpartition(".")[2]))
