"""Which setting of a program is its batch size, how that is known, and the program with another size."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tenure.errors import UsageError
from tenure.fixing.batch_numbers import (
    CONSTANT,
    LOADER,
    OPTION,
    BatchNumber,
    find_numbers,
    is_batch_name,
    put_number,
)

WHAT_TO_NAME = "name the program's option, its key, or a constant of its script with --batch-arg"
_GIVEN = re.compile(r"(?P<key>-{1,2}[\w.-]+|\+{0,2}[A-Za-z_][\w.]*)=(?P<value>.*)")
_STUCK = re.compile(r"(?P<key>-[A-Za-z])(?P<value>\d+)")


@dataclass(frozen=True)
class InCommand:
    """An option or key as it is written, from `at` on in the command; None: not there yet, it is put behind it."""

    key: str
    joint: str
    """What stands between key and size: "=", nothing, or " " where the size is an argument of its own."""
    at: int | None = None

    def split(self, command: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What of the command stands before it, and what behind it."""
        at = len(command) if self.at is None else self.at
        return tuple(command[:at]), tuple(command[at + (2 if self.joint == " " else 1) :])

    def write(self, size: int) -> tuple[str, ...]:
        """The option or key with a size."""
        return (self.key, str(size)) if self.joint == " " else (f"{self.key}{self.joint}{size}",)


@dataclass(frozen=True)
class InSource:
    """A number of the program's script."""

    file: Path
    kind: str
    name: str

    def put(self, texts: Mapping[Path, bytes], size: int) -> dict[Path, bytes]:
        """Those texts of files with the script's, in which the number is another. SourceError where it is not there."""
        text = texts[self.file] if self.file in texts else self.file.read_bytes()
        return {**texts, self.file: put_number(text, self.kind, self.name, size)}


@dataclass(frozen=True)
class BatchSetting:
    """The batch size as the program runs, None where it is not known, where it is set, and words for that."""

    name: str
    said: str
    size: int | None
    place: InCommand | InSource


def recognise_batch(command: Sequence[str], folder: Path, wanted: str | None = None) -> BatchSetting:
    """The setting named `wanted`, else the only one that is called as batch sizes are: among the program's arguments,
    the options of its script, its constants, its data loaders, in this order.

    UsageError, in one line, where there are several or none. Reads the script and imports nothing.
    """
    script, start = _find_entry(command, folder)
    given = list(_given(command, start))
    numbers = _read_numbers(script)
    if wanted is not None:
        return _named(wanted, given, [_of_number(each, wanted, script) for each in numbers if wanted in each.names])
    telling = [each for each in given if is_batch_name(each.name)]
    if telling:
        return _only(telling[-1:] if len({each.name for each in telling}) == 1 else telling)
    for kind in (OPTION, CONSTANT, LOADER):
        found = [_of_number(each, each.name, script) for each in numbers if each.kind == kind and _tells(each)]
        shuffled = [each for each in found if each.name.startswith("the shuffled ")]
        if found:
            return _only(shuffled if len(shuffled) == 1 else found)
    raise UsageError(f"no batch size is recognised: {WHAT_TO_NAME}")


def _read_numbers(script: Path | None) -> tuple[BatchNumber, ...]:
    try:
        return find_numbers(script.read_bytes()) if script is not None else ()
    except OSError:  # which the program's own start will tell
        return ()


def _tells(number: BatchNumber) -> bool:
    return number.kind == LOADER or is_batch_name(number.name)


def _only(found: Sequence[BatchSetting]) -> BatchSetting:
    if len(found) > 1:
        told = ", ".join(f"{each.said}{'' if each.size is None else f' is {each.size}'}" for each in found)
        raise UsageError(f"several may be the batch size: {told}; {WHAT_TO_NAME}")
    return found[0]


def _named(wanted: str, given: Sequence[BatchSetting], in_source: Sequence[BatchSetting]) -> BatchSetting:
    """The setting of that name; an option or key that is nowhere is put behind the command."""
    there = [each for each in given if each.name == wanted]
    if there or in_source:
        return there[-1] if there else _only(in_source)
    return BatchSetting(wanted, wanted, None, InCommand(wanted, " " if wanted.startswith("-") else "="))


def _given(command: Sequence[str], start: int) -> Iterator[BatchSetting]:
    """Each option or key with a value among the program's arguments."""
    for at in range(start, len(command)):
        written = command[at]
        joined, stuck = _GIVEN.fullmatch(written), _STUCK.fullmatch(written)
        if joined:
            key, value, joint = joined["key"], joined["value"], "="
        elif stuck:
            key, value, joint = stuck["key"], stuck["value"], ""
        elif written.startswith("-") and at + 1 < len(command):
            key, value, joint = written, command[at + 1], " "
        else:
            continue
        name = key.lstrip("+")
        yield BatchSetting(name, name, _size(value), InCommand(key, joint, at))


def _size(value: str) -> int | None:
    return int(value) if value.isdecimal() and int(value) else None


def _of_number(number: BatchNumber, name: str, script: Path | None) -> BatchSetting:
    assert script is not None
    said = f"{'the default of ' if number.kind == OPTION else ''}{name} ({script.name}:{number.line})"
    place = InCommand(name, " ") if number.kind == OPTION else InSource(script, number.kind, name)
    return BatchSetting(name, said, number.value, place)


def _find_entry(command: Sequence[str], folder: Path) -> tuple[Path | None, int]:
    """The script that a command starts, where it is known, and where the program's own arguments begin.

    Of `-m module` it is the module's file below the folder, else the first argument that is a script.
    """
    module = command[2] if len(command) > 2 and command[1] == "-m" else None
    if module is not None:
        stem = folder.joinpath(*module.split("."))
        files = stem.with_name(f"{stem.name}.py"), stem / "__main__.py"
        file = next((each for each in files if each.is_file()), None)
        if file is not None:
            return file.resolve(), 3
    for at, argument in enumerate(command):
        is_script = argument.endswith(".py") or (at == 1 and command[0] == sys.executable)
        if is_script and (folder / argument).is_file():
            return (folder / argument).resolve(), at + 1
    return None, 1 if module is None else 3
