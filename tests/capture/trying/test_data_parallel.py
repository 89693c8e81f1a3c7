"""The first of two devices under DataParallel holds what torch's own source has it hold."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.parallel import comm

from tenure.capture.trying import data_parallel
from tenure.capture.trying.data_parallel import run_on_first_device, summed


class Speech(torch.nn.Module):
    """A recurrent layer, an output of rows and one that is a number."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(4, 5, batch_first=True)
        self.head = torch.nn.Linear(5, 3)

    def forward(self, batch: dict[str, torch.Tensor], scale: float) -> tuple[torch.Tensor, torch.Tensor]:
        logits = self.head(self.lstm(batch["frames"])[0]) * scale
        return logits, logits.mean()


def gradients_of(model: torch.nn.Module) -> list[torch.Tensor]:
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


def test_gradients_are_summed_in_the_buffers_that_torch_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    gradients = [torch.randn(size) for size in (3, 400, 5, 600, 7)] + [torch.randn(4, dtype=torch.float64)]
    monkeypatch.setattr(data_parallel, "BUFFER_BYTES", 2000)
    monkeypatch.setattr(comm, "reduce_add", lambda inputs, destination: inputs[0].clone())

    ours = summed(gradients)
    torchs = comm.reduce_add_coalesced([gradients, gradients], 0, buffer_size=2000)

    assert all(torch.equal(mine, given) for mine, given in zip(ours, gradients, strict=True))
    assert [storages_of(ours), offsets_of(ours)] == [storages_of(torchs), offsets_of(torchs)]
    assert storages_of(ours) == [0, 0, 0, 3, 4, 5]


def storages_of(tensors: tuple[torch.Tensor, ...]) -> list[int]:
    """Which share a storage, by the first that has it."""
    addresses = [tensor.untyped_storage().data_ptr() for tensor in tensors]
    return [addresses.index(address) for address in addresses]


def offsets_of(tensors: tuple[torch.Tensor, ...]) -> list[int]:
    return [int(tensor.storage_offset()) for tensor in tensors]


def test_the_first_device_computes_its_rows_and_has_the_outputs_of_all() -> None:
    model = Speech()
    frames = torch.randn(5, 7, 4)
    alone, _ = model({"frames": frames[:3]}, scale=2.0)
    alone.sum().backward()
    expected = [gradient.clone() for gradient in gradients_of(model)]
    model.zero_grad()

    run_on_first_device()(model)
    logits, mean = model({"frames": frames}, scale=2.0)
    logits[:3].sum().backward()

    assert (logits.shape, mean.shape) == ((5, 7, 3), (2,))
    assert torch.equal(logits[:3], alone)
    assert all(map(torch.allclose, gradients_of(model), expected))
    assert len(set(storages_of(tuple(gradients_of(model))))) == 1


def test_a_batch_of_one_row_is_computed_as_it_is() -> None:
    model = Speech()
    run_on_first_device()(model)

    logits, mean = model({"frames": torch.randn(1, 7, 4)}, 1.0)

    assert (logits.shape, mean.shape) == ((1, 7, 3), ())


def test_a_model_that_trains_nothing_is_left_as_it_is() -> None:
    model: Any = torch.nn.Linear(3, 3).requires_grad_(False)

    run_on_first_device()(model)

    assert "forward" not in model.__dict__


def test_frozen_parameters_stay_frozen() -> None:
    model = Speech()
    model.lstm.requires_grad_(False)
    run_on_first_device()(model)

    logits, _ = model({"frames": torch.randn(4, 7, 4)}, 1.0)
    logits.sum().backward()

    assert [name for name, each in model.named_parameters() if each.grad is not None] == ["head.weight", "head.bias"]
