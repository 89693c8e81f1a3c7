"""Which names a `with` block binds, read from the bytecode between its entry and its exit. Imports no torch."""

from __future__ import annotations

import dis
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from tenure.errors import UsageError

_MOST_REMEMBERED = 256


@dataclass(frozen=True)
class BoundNames:
    """Names that a stretch of code binds: variables of the function, and names of the module (or class body).

    `asks_for_locals` says whether the function names `locals`, `eval` or the like anywhere, as a function of its own:
    then it may hold the dictionary of its variables.
    """

    local: frozenset[str] = frozenset()
    in_namespace: tuple[str, ...] = ()
    asks_for_locals: bool = False


_known: dict[tuple[int, int, int], tuple[CodeType, BoundNames]] = {}


def names_bound_between(code: CodeType, start: int, end: int) -> BoundNames:
    """What the instructions from offset `start` to offset `end` bind, loops among them included as a whole.

    Handlers of the stretch, which compilers place behind the function's end, belong to it by their lines. Read once
    per stretch (about a millisecond), then remembered.
    """
    key = (id(code), start, end)
    known = _known.get(key)
    if known is None:
        if len(_known) >= _MOST_REMEMBERED:
            _known.clear()
        known = _known[key] = (code, _read(code, start, end))  # holding the code keeps its id
    return known[1]


def check_names(asker: str, keep: Any) -> None:
    """UsageError where `keep` is no collection of names; a single string is one of letters."""
    names = isinstance(keep, Collection) and not isinstance(keep, str)
    if not (names and all(isinstance(name, str) for name in keep)):
        raise UsageError(f'{asker}(keep=...) takes names, as in keep=("hidden",); {keep!r} was given')


def is_with_statement(code: CodeType, offset: int) -> bool:
    """Whether the instruction at `offset` enters a `with` block: not a call of `__enter__` by somebody's code."""
    names = {each.offset: each.opname for each in dis.get_instructions(code)}
    while names.get(offset) == "EXTENDED_ARG":  # where Python 3.10 says that it is
        offset += _INSTRUCTION_BYTES
    if names.get(offset) in ("SETUP_WITH", "BEFORE_WITH"):
        return True
    before = sorted(place for place in names if place < offset)[-3:]  # Python 3.14 loads and calls `__enter__`
    return any(names[place] == "LOAD_SPECIAL" for place in before)


def _read(code: CodeType, start: int, end: int) -> BoundNames:
    instructions = list(dis.get_instructions(code))
    end = _with_whole_loops(instructions, start, end)
    lines = _line_by_offset(code)
    inside = [each for each in instructions if start <= each.offset <= end]
    seen = [lines[each.offset] for each in inside if lines.get(each.offset)]
    behind = [each for each in instructions if each.offset > end and seen]
    handlers = [each for each in behind if min(seen) <= lines.get(each.offset, 0) <= max(seen)]
    local: dict[str, None] = {}
    in_namespace: dict[str, None] = {}
    for each in (*inside, *handlers, *_inside_comprehensions((*inside, *handlers))):
        kept_in = in_namespace if each.opname in ("STORE_NAME", "STORE_GLOBAL") else local
        kept_in.update(dict.fromkeys(_stored_by(each)))
    return BoundNames(frozenset(local), tuple(in_namespace), any(map(_asks_for_locals, instructions)))


def _inside_comprehensions(instructions: Iterable[dis.Instruction]) -> Iterator[dis.Instruction]:
    """What comprehensions in a stretch bind outside of themselves (`:=`): up to Python 3.11 they are functions."""
    for each in instructions:
        if isinstance(each.argval, CodeType) and each.argval.co_name in _COMPREHENSIONS:
            within = list(dis.get_instructions(each.argval))
            own = frozenset(each.argval.co_cellvars)
            yield from (one for one in within if one.opname in _BINDS_OUTSIDE and one.argval not in own)
            yield from _inside_comprehensions(within)


_COMPREHENSIONS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))
_BINDS_OUTSIDE = frozenset(("STORE_DEREF", "STORE_GLOBAL", "STORE_NAME"))
_INSTRUCTION_BYTES = 2


def _asks_for_locals(instruction: dis.Instruction) -> bool:
    if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
        return instruction.argval in ("locals", "vars", "dir", "eval", "exec")
    return bool(instruction.argval == "f_locals")


def _with_whole_loops(instructions: list[dis.Instruction], start: int, end: int) -> int:
    """The end, moved behind loops that begin in the stretch: what stands later in a loop may have run before."""
    for each in instructions:
        jumps_back = each.opcode in _JUMPS and isinstance(each.argval, int) and each.argval < each.offset
        if jumps_back and start < each.argval <= end < each.offset:
            return _with_whole_loops(instructions, start, each.offset)
    return end


_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))


def _line_by_offset(code: CodeType) -> dict[int, int]:
    return {
        offset: line for first, last, line in code.co_lines() if line is not None for offset in range(first, last, 2)
    }


def _stored_by(instruction: dis.Instruction) -> Iterator[str]:
    name, value = instruction.opname, instruction.argval
    if name in ("STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"):
        yield value
    elif name.startswith("STORE_FAST"):
        names = value if isinstance(value, tuple) else (value,)
        yield from names[:1] if name.endswith("LOAD_FAST") else names
