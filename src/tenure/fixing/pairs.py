"""Files of one run and of the next that are the same to the program: loggers put times and processes into names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_NUMBER = re.compile(r"\d+")


def pair_names(
    first: Collection[str], second: Collection[str], other: Collection[str]
) -> Iterator[tuple[str, str | None, str | None]]:
    """Each name of the first run with the second one's and the other's, None where that has none.

    The same name is a pair; of what is left those that differ in numbers alone, in their order, where there are as
    many in both.
    """
    in_second, in_other = _pair(first, second), _pair(first, other)
    for name in sorted(first):
        yield name, in_second.get(name), in_other.get(name)


def unpaired(other: Collection[str], first: Collection[str]) -> set[str]:
    """The names of the other run that the first has no partner for."""
    return set(other) - set(_pair(first, other).values())


def _pair(first: Collection[str], other: Collection[str]) -> dict[str, str]:
    pairs = {name: name for name in first if name in other}
    left, there = (_by_form(set(names) - set(pairs)) for names in (first, other))
    for form, names in left.items():
        if len(there.get(form, ())) == len(names):
            pairs.update(zip(names, there[form], strict=True))
    return pairs


def _by_form(names: Collection[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        found.setdefault(_NUMBER.sub("#", name), []).append(name)
    return found
