"""The memory stream of two steps: whose each storage is, what graphs keep of it, and that the program is unchanged."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from capture.recorder import CensusLog, recording
from tenure.capture.heap.census import take_census
from tenure.capture.profile.stream_watch import NOWHERE, RECURRENT
from tenure.model.heap import Census
from tenure.model.plan import Part
from tenure.model.profile import BEFORE, Phase
from tenure.model.stream import Owner, StepStream
from tenure.planning.predict import predict
from tenure.store.recording_file import open_recording
from tenure.store.stream_file import read_stream

Step = Callable[[], Any]
pytestmark = pytest.mark.slow


class GraphCensus(CensusLog):
    """True censuses within the steps, stand-ins at their ends."""

    def __call__(self, *, moment: str, **about: Any) -> Census:
        return (take_census if moment == "peak" else super().__call__)(moment=moment, **about)


def stream_of(step: Step, folder: Path, steps: int = 4) -> StepStream:
    gc.collect()  # models of earlier tests
    with recording(folder, GraphCensus(), profile_step=2, census_at=(), plans=True):
        for _ in range(steps):
            step()
    assert [note.text for note in open_recording(folder).notes] == []
    return read_stream(folder / "stream-000003.npz")


def training(model: torch.nn.Module, *sizes: int, **of_optimizer: Any) -> Step:
    optimizer = torch.optim.AdamW(model.parameters(), **of_optimizer)

    def step() -> None:
        optimizer.zero_grad()
        model(torch.randn(*sizes)).square().mean().backward()
        optimizer.step()

    return step


def owned(stream: StepStream, owner: Owner, step: int = 2) -> dict[str, int]:
    """Bytes by name of what an owner has: what was there before, and what came to be in one of the two steps."""
    profile, owners = stream.profile, stream.owners
    births = range(profile.second) if step == 1 else range(profile.second, profile.num_operations)
    return {
        profile.text(int(owners.name[row])): int(profile.storages.bytes[row])
        for row in range(len(owners.owner))
        if owners.owner[row] == owner and (profile.storages.birth[row] in births or owner != Owner.GRADIENT)
    }


def kept_bytes(stream: StepStream, read: int = -1) -> int:
    """What graphs kept at the beginning of a backward pass and nothing else owns."""
    is_kept = stream.is_kept_at(stream.graph_reads[read]) & (stream.owners.owner == Owner.NONE)
    return int(stream.profile.storages.bytes[is_kept].sum())


def test_parameters_gradients_and_states_are_told_by_name(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16, affine=False))

    stream = stream_of(training(model, 4, 8), tmp_path)

    sizes = {"0.weight": 8 * 16 * 4, "0.bias": 16 * 4}
    assert owned(stream, Owner.PARAMETER) == sizes
    assert owned(stream, Owner.GRADIENT) == sizes
    assert owned(stream, Owner.BUFFER) == {"1.running_mean": 64, "1.running_var": 64, "1.num_batches_tracked": 8}
    of_state = {f"{name} {key}": size for name, size in sizes.items() for key in ("exp_avg", "exp_avg_sq")}
    assert owned(stream, Owner.OPTIMIZER_STATE) == of_state | {f"{name} step": 4 for name in sizes}


def test_what_graphs_keep_at_the_end_of_forward_is_told_to_the_byte_with_the_module_that_made_it(
    tmp_path: Path,
) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))

    stream = stream_of(training(model, 32, 8), tmp_path)

    batch, hidden, out = 32 * 8 * 4, 32 * 16 * 4, 32 * 4 * 4
    assert [kept_bytes(stream, read) for read in (0, 1)] == [batch + hidden + out] * 2
    profile, owners = stream.profile, stream.owners
    made = {
        int(profile.storages.bytes[row]): profile.text(int(owners.module[row]))
        for row in range(len(owners.owner))
        if owners.kept_to[row] >= 0 and owners.owner[row] == Owner.NONE and profile.storages.birth[row] != BEFORE
    }
    assert made == {batch: "", hidden: "1", out: "2"}
    phases = [Phase(int(profile.operations.phase[number])) for number in stream.graph_reads]
    assert phases == [Phase.BACKWARD, Phase.BACKWARD]


def test_a_checkpointed_part_keeps_its_input_alone(tmp_path: Path) -> None:
    first, inner = torch.nn.Linear(8, 8), torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU())
    optimizer = torch.optim.SGD([*first.parameters(), *inner.parameters()], lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        hidden = first(torch.randn(16, 8))
        checkpoint(inner, hidden, use_reentrant=False).sum().backward()
        optimizer.step()

    stream = stream_of(step, tmp_path)

    batch, hidden = 16 * 8 * 4, 16 * 8 * 4
    assert kept_bytes(stream) == batch + hidden
    assert stream.notes == ()


def test_what_a_function_keeps_on_ctx_is_kept_by_its_graph(tmp_path: Path) -> None:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.scale = x.new_full((100,), 2.0)
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * ctx.scale[0]

    model = torch.nn.Linear(8, 4, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        Scaled.apply(model(torch.randn(16, 8))).sum().backward()
        optimizer.step()

    stream = stream_of(step, tmp_path)

    assert kept_bytes(stream) == 16 * 8 * 4 + 100 * 4


def test_what_meets_the_model_lies_on_the_device_and_a_dataset_does_not(tmp_path: Path) -> None:
    model = torch.nn.Linear(8, 4)
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.randn(1000, 8)

    def step() -> None:
        optimizer.zero_grad()
        batch = data[torch.randint(0, 1000, (16,))]
        model(batch).sum().backward()
        optimizer.step()

    stream = stream_of(step, tmp_path)

    profile = stream.profile
    on_device = [
        profile.text(int(shape))
        for shape, flag in zip(profile.storages.shape.tolist(), stream.owners.on_device.tolist(), strict=True)
        if flag
    ]
    assert {"[16, 8]", "[4, 8]", "[4]", "[16, 4]"} <= set(on_device)
    assert {"[1000, 8]", "[16]"}.isdisjoint(on_device)


def test_what_a_variable_holds_of_the_step_before_lies_on_the_device(tmp_path: Path) -> None:
    model = torch.nn.Linear(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    held: dict[str, torch.Tensor] = {}

    def step() -> None:
        held["out"] = model(torch.randn(16, 8))
        held["out"].sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    stream = stream_of(step, tmp_path)

    storages = stream.profile.storages
    before = (storages.birth == BEFORE) & (storages.bytes == 16 * 4 * 4)
    assert stream.owners.on_device[before].tolist() == [1]


def test_optimizers_choose_as_on_a_device_while_they_are_watched_and_not_after(tmp_path: Path) -> None:
    from torch.utils._foreach_utils import _get_foreach_kernels_supported_devices as before

    model = torch.nn.Linear(8, 4)
    stream = stream_of(training(model, 4, 8), tmp_path)

    profile = stream.profile
    names = {profile.text(position) for position in profile.operations.name.tolist()}
    assert "aten._foreach_sqrt.default" in names
    assert sys.modules["torch.optim.optimizer"]._get_foreach_kernels_supported_devices is before


def test_modules_of_several_models_carry_their_roots_class(tmp_path: Path) -> None:
    model, other = torch.nn.Sequential(torch.nn.Linear(8, 8)), torch.nn.Bilinear(2, 2, 2)

    stream = stream_of(training(model, 4, 8), tmp_path)

    assert owned(stream, Owner.PARAMETER) == {
        "Sequential.0.weight": 256, "Sequential.0.bias": 32,
        "Bilinear.weight": other.weight.nbytes, "Bilinear.bias": other.bias.nbytes,
    }  # fmt: skip


def test_training_computes_what_it_computes_without_a_stream(tmp_path: Path) -> None:
    def weights(folder: Path | None) -> list[torch.Tensor]:
        torch.manual_seed(5)
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(), torch.nn.Linear(16, 4))
        step = training(model, 32, 8, foreach=True)
        if folder is None:
            for _ in range(4):
                step()
        else:
            stream_of(step, folder)
        return [parameter.detach() for parameter in model.parameters()]

    assert all(torch.equal(one, other) for one, other in zip(weights(None), weights(tmp_path), strict=True))


def test_recurrent_layers_are_told_for_they_run_otherwise_on_a_device(tmp_path: Path) -> None:
    class Last(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.GRU(8, 4, batch_first=True)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = self.layer(x)[0]
            return out

    stream = stream_of(training(Last(), 4, 5, 8), tmp_path)

    assert stream.notes == (RECURRENT,)


@pytest.mark.parametrize("is_low", [False, True])
def test_a_batch_that_autocast_alone_meets_is_counted_beside_its_copy(is_low: bool, tmp_path: Path) -> None:
    model = torch.nn.Linear(1024, 8, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        batch = torch.randn(64, 1024)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_low):
            loss = model(batch).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    stream = stream_of(step, tmp_path)

    weight, batch, out, number = 8 * 1024 * 4, 64 * 1024 * 4, 64 * 8 * 4, 512
    as_it_is = weight + batch + out + number
    in_half = weight // 2 + batch // 2 + out // 2
    low = weight + batch + in_half + number
    gradient = weight  # of the step before, until it is dropped
    assert predict(stream).peaks[Part.FORWARD] == (low if is_low else as_it_is) + gradient


def test_what_meets_the_model_by_another_operation_lies_on_the_device(tmp_path: Path) -> None:
    model = torch.nn.Linear(64, 8, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        batch = torch.randn(512, 64)
        mixed = 0.3 * batch + 0.7 * batch[torch.randperm(512)]
        model(mixed).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    stream = stream_of(step, tmp_path)

    weight, batch = 8 * 64 * 4, 512 * 64 * 4
    assert predict(stream).peaks[Part.BETWEEN] == weight + 4 * batch  # it, both parts of the sum, and the sum


def test_where_nothing_tells_what_a_step_made_is_counted_on_the_device_and_told(tmp_path: Path) -> None:
    model = torch.nn.Linear(64, 8, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    held: dict[str, torch.Tensor] = {}

    def step() -> None:
        held["batch"] = torch.randn(512, 64)
        held["apart"] = torch.rand(4096)
        model(held["batch"]).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    stream = stream_of(step, tmp_path)

    weight, batch, apart = 8 * 64 * 4, 512 * 64 * 4, 4096 * 4
    assert predict(stream).peaks[Part.BETWEEN] == weight + 2 * batch + apart  # the batch of the step before is held
    assert stream.notes == (NOWHERE.format("48.00 KiB"),)  # one of each step: the third in the one that comes


def test_what_a_graph_keeps_and_states_that_no_step_uses_lie_on_the_device(tmp_path: Path) -> None:
    layers = torch.nn.ModuleList(torch.nn.Linear(64, 8, bias=False) for _ in range(2))
    model, other = layers
    optimizer = torch.optim.AdamW(layers.parameters())
    other(torch.ones(1, 64)).sum().backward()
    held: list[torch.Tensor] = []

    def step() -> None:
        loss = model(torch.randn(512, 64)).sum()
        loss.backward(retain_graph=not held)
        held[:] = held or [loss]  # with the graph of the first step, and its batch
        optimizer.step()
        optimizer.zero_grad()

    stream = stream_of(step, tmp_path)

    profile, owners = stream.profile, stream.owners
    shapes = ("[512, 64]", "[8, 64]")
    of_host = [profile.text(int(shape)) for shape in profile.storages.shape[owners.on_device == 0].tolist()]
    states = [name for name in owned(stream, Owner.OPTIMIZER_STATE) if name.endswith("exp_avg")]
    assert (len(states), set(shapes).intersection(of_host)) == (2, set())


def test_of_a_sparse_gradient_indices_and_values_are_counted(tmp_path: Path) -> None:
    table = torch.nn.Embedding(1000, 64, sparse=True)
    optimizer = torch.optim.SparseAdam(table.parameters())

    def step() -> None:
        optimizer.zero_grad()
        table(torch.randint(1000, (500,))).square().sum().backward()
        optimizer.step()

    found = stream_of(step, tmp_path)

    of_gradient = found.owners.owner == Owner.GRADIENT
    assert {500 * 8, 500 * 64 * 4} <= set(found.profile.storages.bytes[of_gradient].tolist())
