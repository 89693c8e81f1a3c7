"""What the optimizers' parameters have come to, as one hash: two runs that agree have learned the same, to the bit."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from tenure.capture.guarding.aside import run_aside


@dataclass(frozen=True)
class ParameterHash:
    """`digest` of the values of `count` tensors; `norm` is their 2-norm, for runs that agree only roughly."""

    digest: str
    count: int
    norm: float


def hash_parameters(optimizers: Iterable[Any]) -> ParameterHash | None:
    """The hash of all parameters in the order of their optimizers and groups; None where one cannot be read.

    Copies what lies on a device to the host, and waits for it: for runs that are made to be compared.
    """
    tensors = [each for optimizer in optimizers for group in optimizer.param_groups for each in group["params"]]
    return run_aside(lambda: _hash(tensors)) if tensors else None


def _hash(tensors: list[Any]) -> ParameterHash:
    found, square = hashlib.blake2b(digest_size=16), 0.0
    with torch.no_grad():
        for tensor in tensors:
            values = getattr(tensor, "_local_tensor", tensor).detach().cpu().contiguous()
            square += float(values.to(torch.float64).square().sum()) if values.is_floating_point() else 0.0
            found.update(f"{values.dtype}{tuple(values.shape)}".encode())
            num_bytes = values.numel() * values.element_size()
            if num_bytes:
                found.update((ctypes.c_char * num_bytes).from_address(values.data_ptr()))
    return ParameterHash(found.hexdigest(), len(tensors), square**0.5)
