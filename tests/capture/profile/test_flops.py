from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

from tenure.capture.profile.flops import flops_of


class _Counting(TorchDispatchMode):  # type: ignore[misc]
    total = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        self.total += flops_of(function, args, kwargs, result)
        return result


def counted(step: Callable[[], torch.Tensor]) -> int:
    with _Counting() as counting:
        step().sum().backward()
    return counting.total


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda: torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)), (3, 8)),
        (lambda: torch.nn.Conv2d(3, 8, 3), (2, 3, 8, 8)),
        (lambda: torch.nn.LayerNorm(8), (3, 8)),
    ],
)
def test_operations_count_as_torch_counts_them(make: Callable[[], torch.nn.Module], size: tuple[int, ...]) -> None:
    model, x = make(), torch.randn(size, requires_grad=True)

    with FlopCounterMode(display=False) as torchs:
        model(x).sum().backward()
    assert counted(lambda: model(x)) == torchs.get_total_flops()


def test_attention_on_the_host_counts_as_on_a_device() -> None:
    query, key, value = (torch.randn(2, 4, 16, 8, requires_grad=True) for _ in range(3))
    shape = query.shape

    found = counted(lambda: F.scaled_dot_product_attention(query, key, value))

    assert found == sdpa_flop_count(shape, shape, shape) + sdpa_backward_flop_count(shape, shape, shape, shape)
