"""Numbers by which a storage is known again in a later census.

An address says little: what a step makes anew lies mostly where the same lay in the step before. A weak reference to
the storage's Python object, which lives as long as the storage, says for sure whether it is still the same.
"""

from __future__ import annotations

import functools
import weakref

import torch

UNKNOWN = 0
"""The serial where this torch cannot tell, or there is no storage of torch's."""
_OF_A_COPY = 1 << 40
"""More storages than any process sees."""


class StorageSerials:
    """Serials by storage id, of the storages that the last censuses saw; about 200 bytes each while it is kept."""

    def __init__(self) -> None:
        self._alive: dict[int, weakref.ref[torch.UntypedStorage]] = {}
        self._serials: dict[int, int] = {}
        self._newest = UNKNOWN

    def of(self, storage: torch.UntypedStorage) -> int:
        """From 1 on, the same for as long as the storage lives and never again; UNKNOWN where that cannot be told."""
        if not _can_tell():
            return UNKNOWN
        key: int = storage._cdata
        known = self._alive.get(key)
        if known is None or known() is not storage:
            self._newest += 1
            self._alive[key], self._serials[key] = weakref.ref(storage), self._newest
        return self._serials[key]

    def begin_apart(self) -> None:
        """In a forked copy: what it sees first is given no serial that the process gives to something else."""
        self._newest += _OF_A_COPY

    def forget_dead(self) -> None:
        """Keep nothing of storages that are gone: once per census, some 0.1 microseconds for each storage."""
        dead = [key for key, storage in self._alive.items() if storage() is None]
        for key in dead:
            del self._alive[key], self._serials[key]


def storages_tell_their_death() -> bool:
    """Whether a storage's Python object lives as long as the storage."""
    tensor = torch.empty(1, device="cpu")
    reference = weakref.ref(tensor.untyped_storage())
    lives = reference() is not None
    del tensor
    return lives and reference() is None


_can_tell = functools.cache(storages_tell_their_death)


def ask_early() -> None:
    """Find out now, where no dispatch mode of the program sees the tensor that this takes."""
    _can_tell()


SERIALS = StorageSerials()
"""Of this process; a forked copy goes on with them."""
