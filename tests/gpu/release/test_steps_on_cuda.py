"""Helpers of a step on a device: the peak of the next forward falls by the graph, and nothing waits."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import tenure
from gpu.release.devices import MIB, does_not_wait, floats, no_synchronisation, row_of
from tenure.release.steps.scopes import ScopeOutcome


class Transducer(torch.autograd.Function):
    """Keeps its gradient beside what backward frees, as some losses do."""

    @staticmethod
    def forward(context: Any, values: torch.Tensor) -> torch.Tensor:
        context.grads = values.sigmoid()
        return values.sum()

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> Any:
        return context.grads * gradient


def begin_step() -> int:
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


def peak_of_last_forward_without(batch: torch.Tensor) -> tuple[int, float]:
    for _ in range(3):
        torch.cuda.reset_peak_memory_stats()
        retval = Transducer.apply(batch * 2)
        loss = retval * 0.5
        peak = torch.cuda.max_memory_allocated()
        loss.backward()
    return peak, loss.item()


def peak_of_last_forward_with(batch: torch.Tensor) -> tuple[int, float, ScopeOutcome]:
    for _ in range(3):
        torch.cuda.reset_peak_memory_stats()
        with tenure.step_scope() as scope:
            retval = Transducer.apply(batch * 2)
            loss = retval * 0.5
            peak = torch.cuda.max_memory_allocated()
            loss.backward()
    return peak, loss.item() + 0 * retval.item(), scope.outcome


def test_results_left_over_from_a_step_cost_the_next_forward_their_graph_and_in_a_scope_nothing() -> None:
    batch = floats(32, requires_grad=True)
    batch.grad = torch.zeros_like(batch)
    without, loss_without = peak_of_last_forward_without(batch)
    gradient = batch.grad.clone()
    batch.grad.zero_()
    within, loss_within, outcome = peak_of_last_forward_with(batch)

    assert without - (within - gradient.nbytes) == 32 * MIB
    assert (loss_within, torch.equal(batch.grad, gradient)) == (loss_without, True)
    assert [(each.name, each.num_graphs, each.num_cut, each.num_survived, each.bytes) for each in outcome.carried] == [
        ("retval", 1, 1, 0, 4),
        ("loss", 1, 1, 0, 4),
    ]
    assert (outcome.before_bytes, outcome.after_bytes, outcome.survivors) == (8, 0, ())


def evaluate_without(batch: torch.Tensor) -> tuple[int, int]:
    for _ in range(2):
        start = begin_step()
        loss = batch.exp().exp().mean()
        peak = torch.cuda.max_memory_allocated() - start
    return start, peak + 0 * len(loss.shape)


def evaluate_with(batch: torch.Tensor) -> tuple[int, int]:
    for _ in range(2):
        start = begin_step()
        with tenure.step_scope():
            loss = batch.exp().exp().mean()
            peak = torch.cuda.max_memory_allocated() - start
    return start, peak + 0 * len(loss.shape)


def test_what_a_forward_saved_is_gone_before_the_next_one_begins() -> None:
    batch = floats(32, requires_grad=True)
    without = evaluate_without(batch)
    within = evaluate_with(batch)

    assert without[0] - within[0] == 64 * MIB
    assert without[1] == within[1]


def test_a_history_that_keeps_the_graph_on_the_device_is_told_with_its_holder() -> None:
    batch, history = floats(16, requires_grad=True), []
    start = torch.cuda.memory_allocated()
    with tenure.step_scope() as scope:
        loss = batch.exp().mean()
        history.append(loss)
    kept = torch.cuda.memory_allocated() - start
    (survivor,) = scope.outcome.survivors
    survived = scope.outcome.survived
    history.clear()

    assert (kept, survived) == (16 * MIB + 512, ("loss",))
    assert (survivor.what, survivor.device, survivor.bytes) == ("`loss`", "cuda:0", 4)
    assert "history" in "".join(survivor.path)
    assert torch.cuda.memory_allocated() - start == 512
    assert (loss.item(), scope.outcome.after_bytes) == (1.0, 0)


def test_a_scope_waits_for_nothing() -> None:
    batch = torch.ones(1000, device="cuda", requires_grad=True)

    def step() -> None:
        with tenure.step_scope():
            output = batch.exp()
            result = {"loss": output.mean(), "output": output}
            loss = result["loss"]
            loss.backward()

    assert does_not_wait(step)
    assert batch.grad is not None


def test_histories_keep_values_and_no_graph_of_the_device_and_take_them_in_without_waiting() -> None:
    batch = floats(16, requires_grad=True)
    losses, recent = tenure.detached([]), tenure.detached(deque(maxlen=2))
    start = torch.cuda.memory_allocated()
    with no_synchronisation():
        for step in range(5):
            loss = batch.exp().mean() + step
            losses.append(loss)
            recent.append({"step": step, "loss": loss})
            del loss
    grown = torch.cuda.memory_allocated() - start

    assert grown == 5 * 512
    assert [each.item() for each in losses] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert ([each["step"] for each in recent], losses.num_cut, losses.outcome.survivors) == ([3, 4], 5, ())


class Accuracy:
    """Keeps lists of results on the device, and concatenates them when it computes."""

    def __init__(self) -> None:
        self.hits: list[torch.Tensor] = []

    def compute(self) -> torch.Tensor:
        self.hits = [torch.cat(self.hits)]
        return self.hits[0].mean()

    def reset(self) -> None:
        self.hits.clear()


def test_a_metric_is_computed_on_the_device_without_waiting_and_its_reset_is_what_torch_counts() -> None:
    metric = Accuracy()
    metric.hits += [floats(16) + 1, floats(16)]
    start = torch.cuda.memory_allocated()
    with no_synchronisation():
        reading = tenure.compute_metric(metric)
    computed = torch.cuda.memory_allocated() - start
    held = metric.hits[0]
    before = torch.cuda.memory_allocated()
    outcome = tenure.reset_metric(metric)
    after = torch.cuda.memory_allocated()
    (survivor,) = outcome.survivors
    row = row_of(outcome)

    assert (float(reading.value), reading.value.device.type, reading.state_bytes) == (0.5, "cuda", 32 * MIB)
    assert computed == 512
    assert (row.before_bytes, row.after_bytes) == (before, after)
    assert (row.expected_bytes, row.freed_bytes, before - after) == (32 * MIB, 16 * MIB, 16 * MIB)
    assert (survivor.bytes, survivor.device, "held" in "".join(survivor.path)) == (16 * MIB, "cuda:0", True)
    assert len(held) == 4 * MIB


class Training:
    """Mixed precision with a scaled loss, and a block whose activations are computed again."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.block = torch.nn.Sequential(
            torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(1024, 256)
        ).cuda()
        self.optimizer = torch.optim.SGD(self.block.parameters(), lr=0.01)
        self.scaler = torch.amp.GradScaler("cuda")
        self.batch = torch.randn(512, 256, device="cuda")

    def forward(self) -> torch.Tensor:
        with torch.autocast("cuda", dtype=torch.float16):
            return checkpoint(self.block, self.batch, use_reentrant=False)

    def end(self, loss: torch.Tensor) -> None:
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def result(self) -> list[torch.Tensor]:
        return [parameter.detach().clone() for parameter in self.block.parameters()]


def train_without(training: Training) -> list[float]:
    losses = []
    for _ in range(4):
        output = training.forward()
        loss = output.float().square().mean()
        training.end(loss)
        losses.append(loss.item())
    return losses


def train_with(training: Training) -> tuple[list[float], list[int]]:
    losses, left = [], []
    for _ in range(4):
        with tenure.step_scope():
            output = training.forward()
            loss = output.float().square().mean()
            training.end(loss)
        losses.append(loss.item())
        left.append(torch.cuda.memory_allocated() + 0 * len(output.shape))
    return losses, left


@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS")
def test_mixed_precision_with_checkpoints_computes_the_same_in_a_scope_and_leaves_the_same_after_each_step() -> None:
    plain, scoped = Training(), Training()
    torch.manual_seed(1)
    expected = train_without(plain)
    torch.manual_seed(1)
    losses, left = train_with(scoped)

    assert losses == expected
    assert [torch.equal(*pair) for pair in zip(plain.result(), scoped.result(), strict=True)] == [True] * 4
    assert left[1:] == [left[1]] * 3
