"""Blocks of a device's allocator that are in use, and who owns them as far as that is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tenure.model.allocator import Frame

OwnerKind = Literal["path", "stack", "native", "unknown"]


@dataclass(frozen=True)
class OwnedBlock:
    """A block in use with its owner: `num_bytes` as the allocator counts them, `requested_bytes` what was asked for.

    `waits` says that it is freed and another stream still uses it. `owner` is "path" where names of Python lead to it
    (`path`, root first, `role`), "stack" where only the stack of its allocation is known (`frame`), "native" where a
    census of that moment had no Python owner for it and no stack was recorded: a library or C++ holds it. Without a
    census of that moment it is "unknown" instead.
    """

    device: int
    address: int
    num_bytes: int
    requested_bytes: int
    waits: bool
    owner: OwnerKind
    path: tuple[str, ...] = ()
    role: str = ""
    frame: Frame | None = None
