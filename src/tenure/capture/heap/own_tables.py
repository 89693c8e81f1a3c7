"""Lists and tables of Tenure's own that grow while a program runs: no census tells of what they hold.

Objects of Tenure's classes are passed over by their type; a plain list among their attributes is not known by its own.
"""

from __future__ import annotations

import weakref
from typing import Any

_OWNERS: weakref.WeakSet[Any] = weakref.WeakSet()


def keep_from_censuses(owner: object) -> None:
    """A census passes over what the attributes of `owner` lead to, for as long as it lives."""
    _OWNERS.add(owner)


def own_tables() -> set[int]:
    """By `id()`, what no census looks into."""
    return {id(value) for owner in list(_OWNERS) for value in vars(owner).values()}
