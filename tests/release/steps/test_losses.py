"""LossMeter: right values, no graph, no growth, and no synchronisation between logs (counted)."""

from __future__ import annotations

import gc
import math
import weakref
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from release.two_ranks import printed_by_two_ranks
from tenure.capture.memory import count_tensors
from tenure.errors import UsageError
from tenure.release.steps.losses import LossMeter, LossValues, MeterOutcome

READS = ("_local_scalar_dense", "is_nonzero", "equal", "_to_copy", "item")


class CountReads(TorchDispatchMode):
    """Counts operations that bring a value to the host, or move a tensor there."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: Counter[str] = Counter()
        self.others: Counter[str] = Counter()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = function.overloadpacket.__name__
        moved = name == "copy_" and args[0].device != args[1].device
        (self.reads if name in READS or moved else self.others)[name] += 1
        return function(*args, **(kwargs or {}))


def test_last_mean_and_max_are_those_of_the_window(device: str) -> None:
    meter = LossMeter()
    for loss in (3.0, 1.0, 2.0):
        meter.update(torch.tensor(loss, device=device))
    first = meter.read()
    meter.update(torch.tensor([7.0], device=device))

    assert first == LossValues(last=2.0, mean=2.0, max=3.0, num_steps=3, through_step=3)
    assert meter.read() == LossValues(last=7.0, mean=7.0, max=7.0, num_steps=1, through_step=4)
    assert str(first) == "loss 2.0000 (mean 2.0000, max 3.0000 over 3 steps, to step 3)"


def test_weights_count_in_the_mean_and_numbers_are_taken_as_they_are() -> None:
    meter = LossMeter()
    meter.update(1.0, weight=3)
    meter.update(5.0, weight=1)

    assert meter.read() == LossValues(last=5.0, mean=2.0, max=5.0, num_steps=2, through_step=2)


@pytest.mark.slow
def test_between_logs_no_value_is_brought_to_the_host(device: str) -> None:
    meter = LossMeter()
    loss = torch.ones(4, requires_grad=True, device=device)
    meter.update(loss.mean())
    with CountReads() as steps:
        for _ in range(1000):
            meter.update(loss.mean())

    assert steps.reads == Counter()
    assert steps.others["copy_"] == 1000


def test_a_log_moves_one_tensor_and_reads_none_on_the_device(device: str) -> None:
    meter = LossMeter()
    meter.update(torch.ones((), device=device))
    with CountReads() as log:
        meter.log()

    assert log.reads == (Counter(copy_=1) if device == "cuda" else Counter())


@pytest.mark.slow
def test_a_hundred_thousand_steps_make_no_memory_and_keep_no_graph(device: str) -> None:
    meter = LossMeter()
    weight = torch.ones((), requires_grad=True, device=device)
    loss = weight * 2
    seen = weakref.ref(loss)
    meter.update(loss)
    meter.log()
    del loss
    gc.collect()
    before = [each for each in count_tensors(torch) if each.device.startswith(device)]
    value = torch.ones((), device=device)
    for step in range(100_000):
        meter.update(value)
        if step % 1000 == 0:
            meter.log()
    del value
    after = [each for each in count_tensors(torch) if each.device.startswith(device)]

    assert seen() is None
    assert after == before
    assert meter.read().through_step == 100_001


def test_what_a_meter_keeps_is_the_same_after_one_step_and_after_many(device: str) -> None:
    weight = torch.ones((), requires_grad=True, device=device)
    meter = LossMeter()
    empty = meter.outcome
    taken = [meter.update(weight * 2) for _ in range(3)]
    first = meter.outcome
    for _ in range(500):
        meter.update(0.5)
    meter.log()
    loss = weight * 2
    meter.update(loss)
    last = meter.outcome

    assert (taken, empty, bool(empty.survivors)) == ([1, 2, 3], MeterOutcome(), False)
    assert (first.num_updates, first.num_cut, first.survivors) == (3, 3, ())
    assert (last.num_updates, last.num_logs, last.num_cut, last.devices) == (504, 1, 4, first.devices)
    assert (first.before_bytes, 0 < first.after_bytes <= 4096) == (0, True)
    assert [(each.what, each.cut[0].split(" in ")[0]) for each in last.survivors] == [("the last loss", "`loss`")]
    loss.detach_()
    assert meter.outcome.survivors == ()


def test_half_precision_sums_do_not_lose_small_losses(device: str) -> None:
    meter = LossMeter()
    loss = torch.tensor(0.001, dtype=torch.bfloat16, device=device)
    for _ in range(5000):
        meter.update(loss)

    assert meter.read().mean == pytest.approx(float(loss), rel=1e-12)


def test_a_nan_is_not_averaged_away(device: str) -> None:
    meter = LossMeter()
    for loss in (1.0, math.nan, 2.0):
        meter.update(torch.tensor(loss, device=device))
    values = meter.read()
    meter.update(torch.tensor(3.0, device=device))

    assert math.isnan(values.mean or 0.0)
    assert math.isnan(values.max or 0.0)
    assert (values.last, meter.read().max) == (2.0, 3.0)


def test_before_the_first_update_there_is_nothing_and_nothing_is_invented() -> None:
    meter = LossMeter()

    assert (meter.log(), meter.read(), bool(meter.log())) == (LossValues(), LossValues(), False)
    assert str(meter.log()) == "loss: no value has arrived yet"


def test_a_log_without_new_steps_gives_the_values_of_the_log_before(device: str) -> None:
    meter = LossMeter()
    meter.update(torch.ones((), device=device))
    first = meter.read()

    assert meter.log() == first


def test_a_meter_first_used_under_inference_mode_works_outside_of_it() -> None:
    meter = LossMeter()
    with torch.inference_mode():
        meter.update(torch.tensor(1.0))
    meter.update(torch.tensor(3.0, requires_grad=True) * 1)

    assert meter.read().mean == 2.0


def test_a_loss_of_several_numbers_is_refused_and_not_taken(device: str) -> None:
    meter = LossMeter()
    meter.update(torch.ones((), device=device))

    with pytest.raises(UsageError, match=r"shape \[3\] was given: reduce it first"):
        meter.update(torch.ones(3, device=device))
    assert meter.read().num_steps == 1


@pytest.mark.parametrize(
    ("loss", "weight", "said"),
    [
        ("0.5", 1.0, "a str was given"),
        (None, 1.0, "a NoneType was given"),
        (1j, 1.0, "a complex was given"),
        (lambda: torch.tensor(1j), 1.0, "a loss of torch.complex64 was given"),
        (0.5, "2", "a str was given"),
        (0.5, lambda: torch.tensor(2.0), "a Tensor was given"),
        (0.5, -1, "-1 was given"),
        (0.5, math.nan, "nan was given"),
    ],
)
def test_what_is_no_loss_or_no_weight_is_refused_and_nothing_of_it_taken(loss: Any, weight: Any, said: str) -> None:
    meter = LossMeter()
    meter.update(3.0)

    with pytest.raises(UsageError, match=said):
        meter.update(*(given() if callable(given) else given for given in (loss, weight)))

    assert (meter.num_updates, meter.read()) == (1, LossValues(3.0, 3.0, 3.0, 1, 1))


def test_numbers_of_numpy_are_numbers() -> None:
    meter = LossMeter()
    meter.update(np.float32(2.0), np.int64(4))

    assert meter.read().mean == 2.0


def test_a_loss_of_another_device_is_refused() -> None:
    meter = LossMeter()
    meter.update(torch.ones(()))

    with pytest.raises(UsageError, match="this LossMeter is on cpu, where its first loss was; a loss on meta"):
        meter.update(torch.ones((), device="meta"))


RANK = """
import sys, torch, torch.distributed as distributed
from tenure.release.steps.losses import LossMeter
rank, port = int(sys.argv[1]), sys.argv[2]
distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
meter = LossMeter()
for step in range(4):
    meter.update(torch.tensor(float(step + 10 * rank)), weight=1 + rank)
print(meter.log())
late = LossMeter()
if rank:
    late.update(5.0)
print(late.log())
distributed.destroy_process_group()
"""


@pytest.mark.slow
def test_ranks_are_put_together_at_a_log() -> None:
    expected = "loss 8.0000 (mean 8.1667, max 13.0000 over 4 steps on 2 ranks, to step 4)"
    one_sided = "loss 5.0000 (mean 5.0000, max 5.0000 over 1 steps on 2 ranks, to step {})"
    assert printed_by_two_ranks(RANK) == [[expected, one_sided.format(0)], [expected, one_sided.format(1)]]


@pytest.mark.parametrize("made_on", ["cpu", "meta"])
def test_a_meter_needs_no_device_by_default(made_on: str) -> None:
    loss, meter = torch.tensor(2.0, device="cpu"), LossMeter()
    with torch.device(made_on):
        for _ in range(2):
            meter.update(loss, weight=3)
        values = meter.read()

    assert values == LossValues(last=2.0, mean=2.0, max=2.0, num_steps=2, through_step=2)


def test_the_first_update_brings_no_value_from_the_host(device: str) -> None:
    loss, meter = torch.ones((), device=device), LossMeter()
    with CountReads() as log:
        meter.update(loss)

    assert log.reads == Counter()
