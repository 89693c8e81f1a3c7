"""What `torch.nn.DataParallel` over two devices has the first of them hold, without a device.

torch's own does not run on the host, so that its order of work is followed here (torch 2.13: `torch/nn/parallel`,
`torch/csrc/cuda/comm.cpp`): parameters are sent in buffers of 10 MiB; the first device computes its part of the batch
with them; outputs of both are gathered there; gradients are summed in buffers when all of them are there, and the
parameters' gradients are views of these. What the second device computes is not run: its outputs are taken to be those
of the first, and its gradients are not added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch._utils import _flatten_dense_tensors, _take_tensors, _unflatten_dense_tensors
from torch.utils._pytree import tree_leaves, tree_map_only

from tenure.capture.trying.program import BeforeCall, Program, once_for_each
from tenure.capture.trying.whole_forward import WholeForward
from tenure.model.trial import DATA_PARALLEL, NUM_DEVICES

BUFFER_BYTES = 10 << 20
"""Of what is sent and summed together (`buffer_size` in `torch.nn.parallel.comm`)."""


def run_on_first_device() -> BeforeCall:
    """Has each outermost model compute the first device's part of its batch, from its first call on."""

    def wrap(model: torch.nn.Module) -> None:
        model.__dict__["forward"] = _Replica(model)

    return once_for_each(wrap)


class _Replica:
    """A model's forward with parameters that were sent, on a part of the inputs' rows."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._whole = WholeForward(model)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        rows = next((leaf.size(0) for leaf in tree_leaves((args, kwargs)) if _has_rows(leaf)), 0)
        if rows < NUM_DEVICES[DATA_PARALLEL]:
            return self._whole(*args, **kwargs)  # as DataParallel does with one part
        part = -(-rows // NUM_DEVICES[DATA_PARALLEL])
        args, kwargs = tree_map_only(
            torch.Tensor, lambda each: each[:part] if _has_rows(each) else each, (args, kwargs)
        )
        names, parameters = zip(*self._whole.named_parameters(), strict=True)
        sent = _Send.apply(*parameters)
        with _flat_weights(self._whole, dict(zip(map(id, parameters), sent, strict=True))):
            outputs = torch.func.functional_call(self._whole, dict(zip(names, sent, strict=True)), args, kwargs)
        return tree_map_only(torch.Tensor, lambda each: _Gather.apply(each, rows / part), outputs)


def why_not_divided(program: Program) -> str | None:
    """Why a program's batches are not divided between devices; None where they can be."""
    wrappers = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)
    has_one = any(isinstance(module, wrappers) for _, module in program.modules)
    return "the program has its models on several devices already" if has_one else None


def _has_rows(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.dim() > 0


@contextmanager
def _flat_weights(module: torch.nn.Module, sent: dict[int, torch.Tensor]) -> Iterator[None]:
    """Recurrent layers keep their weights in a list of their own as well."""
    layers = [each for each in module.modules() if isinstance(each, torch.nn.RNNBase)]
    before = [layer._flat_weights for layer in layers]
    for layer, weights in zip(layers, before, strict=True):
        layer._flat_weights = [sent.get(id(weight), weight) for weight in weights]
    try:
        yield
    finally:
        for layer, weights in zip(layers, before, strict=True):
            layer._flat_weights = weights


class _Send(torch.autograd.Function):  # type: ignore[misc]  # torch has no types here
    """Parameters as the first device's replica has them: the same storages, whose gradients are summed together."""

    @staticmethod
    def forward(ctx: Any, *parameters: torch.Tensor) -> tuple[torch.Tensor, ...]:
        for tensors in _in_buffers(parameters):
            _flatten_dense_tensors(tensors)  # what goes to the other device
        sent = tuple(parameter.view_as(parameter) for parameter in parameters)
        ctx.mark_non_differentiable(
            *(each for each, wanted in zip(sent, ctx.needs_input_grad, strict=True) if not wanted)
        )
        return sent

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return summed(gradients)


def summed(gradients: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Views of buffers, made as `torch.nn.parallel.comm.reduce_add_coalesced` makes them with NCCL, in their order.

    Peak: the gradients, all buffers, and one buffer more.
    """
    found: dict[int, torch.Tensor] = {}
    for tensors in _in_buffers(gradients):
        flat = _flatten_dense_tensors(tensors)
        result = torch.empty_like(flat).copy_(flat)
        for tensor, view in zip(tensors, _unflatten_dense_tensors(result, tensors), strict=True):
            found[id(tensor)] = view.data
    return tuple(found[id(gradient)] for gradient in gradients)


def _in_buffers(tensors: Sequence[torch.Tensor]) -> Iterator[list[torch.Tensor]]:
    yield from _take_tensors(tensors, BUFFER_BYTES)


class _Gather(torch.autograd.Function):  # type: ignore[misc]
    """An output of all rows on the first device; a number becomes a vector of one for each device."""

    @staticmethod
    def forward(ctx: Any, output: torch.Tensor, times: float) -> torch.Tensor:
        ctx.is_number = output.dim() == 0
        own = output.view(1) if ctx.is_number else output
        ctx.rows = own.size(0)
        total = NUM_DEVICES[DATA_PARALLEL] if ctx.is_number else round(ctx.rows * times)
        return torch.cat([own, own[: total - ctx.rows]])

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return (gradient[0] if ctx.is_number else gradient[: ctx.rows]), None
