"""Has `save_on_cpu` make copies on the host too, where torch, finding tensors there already, would make none.

On a device what graphs save goes to the host and comes back as new memory; so do a plan's streams show it.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from tenure.capture.profile.places import PLACES


def offload_as_on_cuda() -> None:
    """For the rest of this process. Only dense tensors of the host are handled otherwise than by torch."""
    made = torch.autograd.graph.save_on_cpu.__init__

    @functools.wraps(made)
    def make(self: Any, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        self.pack_hook = _with_copies(_pack, self.pack_hook)
        self.unpack_hook = _with_copies(_unpack, self.unpack_hook)

    torch.autograd.graph.save_on_cpu.__init__ = make


def _with_copies(on_host: Any, otherwise: Any) -> Any:
    def hook(value: Any) -> Any:
        made = on_host(value)
        return otherwise(value) if made is None else made

    return hook


def _pack(tensor: torch.Tensor) -> tuple[torch.device, torch.Tensor] | None:
    if tensor.device.type != "cpu" or tensor.layout != torch.strided:
        return None
    # Operations that tell the watch that source and copy lie on different devices.
    host = torch.empty(tensor.size(), dtype=tensor.dtype)
    PLACES.put(host, False)
    host.copy_(tensor)
    return tensor.device, host


def _unpack(packed: tuple[torch.device, torch.Tensor]) -> torch.Tensor | None:
    device, host = packed
    if device.type != "cpu" or host.layout != torch.strided:
        return None
    made = torch.empty_like(host)
    made.copy_(host)
    return made
