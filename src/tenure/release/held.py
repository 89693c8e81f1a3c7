"""Who holds what is still there, asked of a census when somebody wants to know, and of none where nothing is left."""

from __future__ import annotations

import weakref
from collections.abc import Collection
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tenure.release.outcome import Survivor
    from tenure.release.storage_refs import StorageRef

TensorRef = tuple[str, weakref.ref[torch.Tensor]]
"""A tensor that is followed, by the name that it was seen under."""


def who_holds_memory(storages: Collection[StorageRef], *, collected: bool = False) -> tuple[Survivor, ...]:
    """Who holds those of the storages that are alive, with path and cut; `collected` says that garbage was collected
    since. Costs a census, one to two collections, where one is alive, and nothing elsewhere."""
    if not any(storage.is_alive for storage in storages):
        return ()
    from tenure.release.verify import Verification

    return Verification().survivors(storages, collected=collected)


def who_holds_tensors(tensors: Collection[TensorRef]) -> tuple[Survivor, ...]:
    """Who holds those of the tensors that are alive, each with its graph. Costs the same."""
    if not any(reference() is not None for _, reference in tensors):
        return ()
    from tenure.release.verify import Verification

    return Verification().holders(tensors)
