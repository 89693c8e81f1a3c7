from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from tenure.capture.faking.fake_memory import begin_fake_memory


def given(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A parameter, which is fake where memory is."""
    return nn.Parameter(torch.full(shape, 0.5, dtype=dtype))


def norm(dtype: torch.dtype) -> torch.Tensor:
    return F.layer_norm(given(4, 8, dtype=dtype), [8], given(8), given(8))


def group_norm() -> torch.Tensor:
    return F.group_norm(given(4, 8, 3, dtype=torch.bfloat16), 2, given(8), given(8))


def batch_norm() -> torch.Tensor:
    return F.batch_norm(given(4, 8, dtype=torch.bfloat16), torch.zeros(8), torch.ones(8), given(8), given(8), True)


def bag() -> torch.Tensor:
    return F.embedding_bag(torch.tensor([[1, 2], [0, 4]]), given(5, 3), mode="mean")


def ctc(lengths: Any) -> torch.Tensor:
    return F.ctc_loss(given(9, 2, 5).log_softmax(2), torch.tensor([[1, 2, 3], [1, 2, 0]]), *lengths)


def packed() -> torch.Tensor:
    rows = pack_padded_sequence(given(2, 5, 3) * 2, torch.tensor([5, 3]), batch_first=True)
    return pad_packed_sequence(nn.GRU(3, 4)(rows)[0])[0]


CASES: dict[str, Callable[[], torch.Tensor]] = {
    **{
        f"{name}, {reduction}": partial(lambda name, reduction: getattr(F, name)(
            given(30, 1).expand(30, 4).sigmoid(), torch.full((30, 4), 0.5), reduction=reduction), name, reduction)
        for name in ("mse_loss", "smooth_l1_loss", "binary_cross_entropy", "soft_margin_loss", "l1_loss", "huber_loss")
        for reduction in ("mean", "sum", "none")
    },
    "norm": partial(norm, torch.bfloat16),
    "norm of one type": partial(norm, torch.float32),
    "group norm": group_norm,
    "batch norm": batch_norm,
    "columns": lambda: F.unfold(given(2, 3, 8, 8), 3),
    "bag": bag,
    "packed": packed,
    "ctc": partial(ctc, ([9, 8], [3, 2])),
    "ctc with lengths as tensors": partial(ctc, (torch.tensor([9, 8]), torch.tensor([3, 2]))),
}  # fmt: skip


class Sizes(TorchDispatchMode):
    """What each operation gave, below all that a program does."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, list[tuple[torch.dtype, tuple[int, ...], int]]]] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if str(function) not in ("prim.device.default", "aten.detach.default"):
            tensors = [each for each in tree_leaves(result) if isinstance(each, torch.Tensor)]
            told = [(each.dtype, tuple(each.shape), each.untyped_storage().nbytes()) for each in tensors]
            self.seen.append((str(function), told))
        return result


def sizes_of(case: Callable[[], torch.Tensor]) -> list[Any]:
    with Sizes() as sizes:
        case().sum().backward()
    return sizes.seen


@pytest.mark.parametrize("name", CASES)
def test_each_operation_gives_the_types_and_storages_that_its_kernel_leaves(name: str) -> None:
    as_it_is = sizes_of(CASES[name])

    memory = begin_fake_memory()
    try:
        faked = sizes_of(CASES[name])
    finally:
        memory.end()

    assert faked == as_it_is
