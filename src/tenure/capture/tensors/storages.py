"""Tensor memory, storage by storage: bytes once each, whatever number of tensors and saved slots share them.

Tensors are grouped by `torch._C._storage_id`, which makes no wrapper; `untyped_storage()`, which does make one,
tracked by the collector for the storage's life, is called at most once per storage.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from tenure.capture.guarding.classes import found_in, name_of
from tenure.capture.tensors.storage_serials import UNKNOWN, StorageSerials

if TYPE_CHECKING:  # it stands beside columns, and tenure.memory() has to work without NumPy
    from tenure.model.heap import Role

_NO_DISPATCH = found_in(torch.Tensor, "__torch_dispatch__")
_ROUNDING_BYTES = 512
"""The device allocators' smallest unit (kMinBlockSize); CPU memory is given as it was asked for."""


@dataclass
class StorageFacts:
    """What is known of one storage while a census is under way; `number` is its node number once it has one."""

    num_bytes: int
    device: str
    dtype: str
    shape: str
    view_bytes: int
    """What a copy of its largest view would take, rounded alike."""
    pointer: int = 0
    """Where its memory is; 0 where that is not known."""
    serial: int = UNKNOWN
    version: int = 0
    num_views: int = 0
    roles: set[Role] = field(default_factory=set)
    number: int = -1


class StorageTable:
    """All storages seen in a census, by storage id; with `serials` each gets its own, by which the next knows it."""

    def __init__(self, serials: StorageSerials | None = None) -> None:
        self.by_id: dict[int, StorageFacts] = {}
        self._serials = serials
        self.num_unreadable = 0

    def add(self, tensor: torch.Tensor, *, view: bool = True) -> list[int]:
        """Storage ids of `tensor`: one, none (meta, opaque, wrapper subclasses), or one per part (sparse).

        With `view` false the tensor does not count among the views: it is a temporary of ours, or one that only
        C++ holds (the base of a view, say).
        """
        try:
            storage_id = storage_id_of(tensor)
        except RuntimeError:
            return self._add_parts(tensor)
        facts = self.by_id.get(storage_id)
        covered = tensor.numel() * tensor.element_size()
        if facts is None:
            facts = _facts_of(tensor, covered)
            if facts is None:
                return []
            self._keep(storage_id, tensor.untyped_storage(), facts)
        facts.version = max(facts.version, _version_of(tensor))
        if view:
            facts.num_views += 1
            covered = covered if facts.device == "cpu" else _in_blocks(covered)
            if facts.num_views == 1 or covered > facts.view_bytes:
                facts.view_bytes, facts.shape = covered, shape_text(tensor)
        return [storage_id]

    def add_bare(self, storage: torch.UntypedStorage) -> list[int]:
        """The id of a storage that may have no tensor any more, as where its bytes are counted by their address; none
        where it has no memory."""
        storage_id: int = storage._cdata
        if storage_id in self.by_id:
            return [storage_id]
        try:
            num_bytes, device = _rounded(storage.nbytes(), storage.device), storage.device
        except RuntimeError:
            return []
        if not num_bytes or device.type == "meta":
            return []
        self._keep(storage_id, storage, StorageFacts(num_bytes, str(device), "uint8", f"[{num_bytes}]", num_bytes))
        return [storage_id]

    def _keep(self, storage_id: int, storage: torch.UntypedStorage, facts: StorageFacts) -> None:
        if self._serials is not None:
            facts.serial = self._serials.of(storage)
        self.by_id[storage_id] = facts

    def _add_parts(self, tensor: torch.Tensor) -> list[int]:
        parts = sparse_parts(tensor)
        if not parts:
            self.num_unreadable += 1
        return [storage_id for part in parts for storage_id in self.add(part)]


def storage_id_of(tensor: torch.Tensor) -> int:
    """A storage's identity, without a wrapper for it where this torch can say it."""
    read = getattr(torch._C, "_storage_id", None)
    return int(read(tensor) if read is not None else tensor.untyped_storage()._cdata)


def bytes_of(tensor: torch.Tensor) -> int | None:
    """Bytes of the tensor's storage as the device's allocator rounds them; None where it has no memory to count.

    Leaves a wrapper of the storage behind, for as long as the storage lives.
    """
    if tensor.device.type == "meta" or is_wrapper(tensor):
        return None
    try:
        return _rounded(tensor.untyped_storage().nbytes(), tensor.device) or None
    except RuntimeError:
        return None


def _rounded(num_bytes: int, device: torch.device) -> int:
    return num_bytes if device.type == "cpu" else _in_blocks(num_bytes)


def _in_blocks(num_bytes: int) -> int:
    return -(-num_bytes // _ROUNDING_BYTES) * _ROUNDING_BYTES


def shape_text(tensor: torch.Tensor) -> str:
    """`[32, 386]`."""
    try:
        return str(list(tensor.shape))
    except RuntimeError:
        return "[nested]"


def _facts_of(tensor: torch.Tensor, covered: int) -> StorageFacts | None:
    num_bytes = bytes_of(tensor)
    if num_bytes is None:
        return None
    dtype = str(tensor.dtype).removeprefix("torch.")
    return StorageFacts(
        num_bytes, str(tensor.device), dtype, shape_text(tensor), _rounded(covered, tensor.device), pointer_of(tensor)
    )


def _version_of(tensor: torch.Tensor) -> int:
    """How often operations in place changed it; 0 of one made in inference mode, which does not count them."""
    try:
        return int(tensor._version)
    except RuntimeError:
        return 0


def pointer_of(tensor: torch.Tensor) -> int:
    """Address of the storage's memory, 0 where this torch does not say it; copies nothing that waits to be written."""
    read = getattr(torch._C, "_data_address", None)
    try:
        return int(read(tensor)) if read is not None else 0
    except (RuntimeError, NotImplementedError):
        return 0


def sparse_parts(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The dense tensors that make up a sparse one; detached, and sharing its memory."""
    if tensor.layout is torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
    return []


def is_wrapper(tensor: torch.Tensor) -> bool:
    """Whether it stands for tensors that it holds, as a shard (`DTensor`) does: its storage tells the bytes of the
    whole and has none. Tensors of a class without operations of its own are no wrappers."""
    if not handles_operations(type(tensor)) or is_fake(tensor):
        return False
    return hasattr(torch._C, "_data_address") and pointer_of(tensor) == 0


def handles_operations(cls: Any) -> bool:
    """Whether a tensor class has operations of its own (parameters and plain subclasses have none)."""
    own = found_in(cls, "__torch_dispatch__")
    return own is not _NO_DISPATCH and own is not torch._C._disabled_torch_dispatch_impl


def is_fake(tensor: Any) -> bool:
    """Fake tensors claim a device and hold no memory."""
    return name_of(type(tensor)) == "FakeTensor"
