"""LossMeter on a device: no wait between logs, the right values, and the same memory after a thousand updates."""

from __future__ import annotations

import gc

import pytest
import torch

import tenure
from gpu.release.devices import MIB, does_not_wait, floats, no_synchronisation
from tenure.release.steps.losses import LossValues


def test_a_thousand_updates_and_their_logs_synchronise_nothing_and_the_values_are_right() -> None:
    meter = tenure.LossMeter()
    losses = torch.arange(1, 1001, dtype=torch.float32, device="cuda")
    meter.update(losses[0])
    meter.log()
    with no_synchronisation():
        for step in range(1, 1000):
            meter.update(losses[step])
            if step == 499:
                meter.log()
    values = meter.read()

    assert values == LossValues(last=1000.0, mean=750.5, max=1000.0, num_steps=500, through_step=1000)
    assert (meter.outcome.num_updates, meter.outcome.num_logs) == (1000, 3)


def test_the_first_update_synchronises_nothing_either() -> None:
    loss = torch.ones((), device="cuda")
    meter = tenure.LossMeter()
    with no_synchronisation():
        meter.update(loss)

    assert meter.read() == LossValues(last=1.0, mean=1.0, max=1.0, num_steps=1, through_step=1)


def test_a_meter_does_not_mind_that_tensors_are_made_on_the_device_by_default() -> None:
    meter = tenure.LossMeter()
    with torch.device("cuda"):
        meter.update(torch.ones(()))
        values = meter.read()

    assert values == LossValues(last=1.0, mean=1.0, max=1.0, num_steps=1, through_step=1)


def test_updates_and_a_log_do_not_wait_for_a_busy_device() -> None:
    meter = tenure.LossMeter()
    losses = [torch.tensor(float(number), device="cuda") for number in range(20)]

    def steps() -> None:
        for loss in losses:
            meter.update(loss, weight=2)
        meter.log()

    meter.update(losses[0])
    meter.log()
    assert does_not_wait(steps)
    assert meter.read() == LossValues(last=19.0, mean=9.5, max=19.0, num_steps=20, through_step=41)


def test_a_log_on_a_busy_device_gives_back_the_log_before_and_read_waits_for_its_own() -> None:
    meter = tenure.LossMeter()
    two, five = torch.tensor(2.0, device="cuda"), torch.tensor(5.0, device="cuda")
    meter.update(two)
    first = meter.read()
    torch.cuda._sleep(1_000_000_000)
    meter.update(five)
    logged = meter.log()
    is_busy = not torch.cuda.current_stream().query()

    assert first == LossValues(last=2.0, mean=2.0, max=2.0, num_steps=1, through_step=1)
    assert (logged, is_busy) == (first, True)
    assert meter.read() == LossValues(last=5.0, mean=5.0, max=5.0, num_steps=1, through_step=2)


def test_memory_is_the_same_after_a_thousand_updates_with_a_graph_as_after_the_first() -> None:
    meter = tenure.LossMeter()
    batch = floats(16, requires_grad=True)
    meter.update(batch.exp().mean())
    meter.log()
    meter.log()
    gc.collect()
    before, kept = torch.cuda.memory_allocated(), meter.outcome.devices
    for step in range(1000):
        meter.update(batch[:1].exp().sum() if step % 100 else batch.exp().mean())
        if step % 100 == 0:
            meter.log()
    meter.read()

    assert (torch.cuda.memory_allocated(), meter.outcome.devices) == (before, kept)
    assert (meter.outcome.num_cut, meter.outcome.survivors) == (1001, ())


def test_an_update_takes_no_memory_at_all_once_the_meter_has_its_own() -> None:
    meter, loss = tenure.LossMeter(), torch.ones((), device="cuda")
    meter.update(loss)
    meter.read()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(10):
        meter.update(loss)
        meter.log()

    assert torch.cuda.max_memory_allocated() == before


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_values_of_every_precision_are_summed_in_double_precision(dtype: torch.dtype) -> None:
    meter = tenure.LossMeter()
    loss = torch.tensor(0.001, dtype=dtype, device="cuda")
    for _ in range(3000):
        meter.update(loss)
    values = meter.read()

    assert (values.last, values.max) == (float(loss), float(loss))
    assert values.mean == pytest.approx(float(loss), rel=1e-12)


def test_who_still_holds_the_last_loss_of_the_device_is_told_with_its_graph() -> None:
    meter, batch = tenure.LossMeter(), floats(16, requires_grad=True)
    loss = batch.exp().mean()
    meter.update(loss)
    (survivor,) = meter.outcome.survivors
    before = torch.cuda.memory_allocated()
    del loss

    assert (survivor.what, survivor.device, survivor.bytes) == ("the last loss", "cuda:0", 4)
    assert survivor.cut[0].startswith("`loss`")
    assert meter.outcome.survivors == ()
    assert before - torch.cuda.memory_allocated() == 16 * MIB + 512
