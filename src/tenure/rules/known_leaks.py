"""What is known upstream of memory that grows below Python, from `known_leaks.toml` beside this file."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_suffix(".toml")
VARY = "vary"


@dataclass(frozen=True)
class KnownLeak:
    """One entry; the head of the file says what each means."""

    id: str
    title: str
    issues: tuple[str, ...]
    first: str
    fixed: str
    operators: tuple[str, ...]
    devices: tuple[str, ...]
    shapes: str
    unless: tuple[str, ...]
    workaround: str
    source: str


@dataclass(frozen=True)
class Match:
    """A known leak and the operators of the program that it names."""

    leak: KnownLeak
    operators: tuple[str, ...]


@functools.cache
def known_leaks(file: Path = FILE) -> tuple[KnownLeak, ...]:
    """All entries, in the file's order. Raises TypeError for one with other keys."""
    lists = {"issues", "operators", "devices", "unless"}
    return tuple(
        KnownLeak(**entry | {key: tuple(entry[key]) for key in lists & entry.keys()})
        for entry in read_tables(file)["leak"]
    )


def read_tables(file: Path) -> dict[str, Any]:
    """The file as it stands: `[[leak]]` and `[[patch]]` tables by kind."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


def match_known_leaks(
    *,
    torch: str,
    operators: Sequence[str],
    devices: Iterable[str],
    shapes_vary: bool,
    environment: Mapping[str, str],
    leaks: Sequence[KnownLeak] | None = None,
) -> tuple[Match, ...]:
    """Those whose versions hold `torch`, and whose operators, devices and conditions are the program's."""
    version, kinds = version_of(torch), {device.partition(":")[0] for device in devices}
    matches = []
    for leak in known_leaks() if leaks is None else leaks:
        called = tuple(name for name in operators if any(_is_named(name, pattern) for pattern in leak.operators))
        held = version_of(leak.first) <= version and (not leak.fixed or version < version_of(leak.fixed))
        shapes_fit = leak.shapes != VARY or shapes_vary
        bounded = any(name in environment for name in leak.unless)
        if version and held and called and shapes_fit and not bounded and kinds & set(leak.devices):
            matches.append(Match(leak, called))
    return tuple(matches)


def version_of(text: str) -> tuple[int, ...]:
    """`2.13.0+cpu` as (2, 13, 0); () where no number begins it."""
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, found[0].split("."))) if found else ()


def _is_named(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
