"""A metric's value without a copy of it, and a reset that is looked at."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

from tenure.capture.memory import count_tensors
from tenure.errors import UsageError
from tenure.release.outcome import DeviceBytes
from tenure.release.steps.metrics import MetricReading, compute_metric, reset_metric


class Accuracy:
    """Keeps lists of results, concatenates them when it computes, and caches the value, as libraries' metrics do."""

    def __init__(self, device: str = "cpu") -> None:
        self.hits: Any = []
        self.total = torch.zeros((), device=device)
        self.cached: Any = None
        self.num_computed = 0

    def update(self, hits: torch.Tensor) -> None:
        self.hits.append(hits)
        self.total += hits.numel()

    def compute(self) -> torch.Tensor:
        self.num_computed += 1
        self.hits = [torch.cat(self.hits)]
        self.cached = self.hits[0].sum() / self.total
        return self.cached

    def reset(self) -> None:
        self.hits.clear()
        self.total.zero_()
        self.cached = None


def tensor_bytes() -> int:
    return sum(each.bytes for each in count_tensors(torch))


def test_computing_leaves_the_metric_as_it_was(device: str) -> None:
    metric = Accuracy(device)
    for _ in range(3):
        metric.update(torch.ones(1000, device=device))
    listed, parts, before = metric.hits, list(metric.hits), tensor_bytes()
    reading = compute_metric(metric)

    assert (float(reading.value), reading.state_bytes > 12_000, reading.changed) == (1.0, True, ())
    assert metric.hits is listed
    assert all(one is other for one, other in zip(metric.hits, parts, strict=True))
    assert (metric.cached, metric.num_computed) == (None, 0)
    assert tensor_bytes() - before <= 512  # what the smallest block of a device holds


def test_what_computing_had_bound_to_the_metric_is_told_where_it_lives_on() -> None:
    class Leaky(Accuracy):
        def compute(self) -> torch.Tensor:
            value = super().compute()
            cache.append(self.hits[0])
            return value

    cache: list[torch.Tensor] = []
    clean, leaky = Accuracy(), Leaky()
    for metric in (clean, leaky):
        metric.update(torch.ones(1000))
    first, second = compute_metric(clean), compute_metric(leaky)

    assert (first.before_bytes, first.after_bytes, first.devices) == (
        4004,
        4004,
        (DeviceBytes("cpu", 4004, 4004, 4000, 4000),),
    )
    assert first.survivors == ()
    assert second.devices == (DeviceBytes("cpu", 4004, 4004, 4000, 0),)
    assert [(each.what, each.bytes) for each in second.survivors] == [("`hits[0]` of Leaky", 4000)]
    assert second.survivors[0].cut[0].startswith("`cache`")


def test_state_that_was_made_in_inference_mode_is_computed_from() -> None:
    metric = Accuracy()
    with torch.inference_mode():
        metric.update(torch.ones(4))
        reading = compute_metric(metric)

    assert (float(reading.value), reading.changed) == (1.0, ())
    assert float(compute_metric(metric).value) == 1.0


def test_the_value_is_that_of_a_copy_of_the_metric() -> None:
    metric = Accuracy()
    metric.update(torch.tensor([1.0, 0.0, 1.0, 1.0]))
    assert float(compute_metric(metric).value) == float(copy.deepcopy(metric).compute()) == 0.75


def test_a_list_changed_in_place_is_put_back_also_where_computing_raises() -> None:
    class Emptying(Accuracy):
        def compute(self) -> torch.Tensor:
            self.hits.clear()
            self.extra = 1
            raise ValueError("no batches")

    metric = Emptying()
    metric.update(torch.ones(2))
    with pytest.raises(ValueError, match="no batches"):
        compute_metric(metric)

    assert (len(metric.hits), hasattr(metric, "extra")) == (1, False)


def test_a_value_that_is_the_state_itself_is_copied_and_a_graph_is_cut() -> None:
    class Running:
        def __init__(self) -> None:
            self.total = torch.zeros(3)
            self.weight = torch.ones(3, requires_grad=True)

        def compute(self) -> dict[str, Any]:
            return {"total": self.total, "parts": [self.weight * 2]}

    metric = Running()
    value = compute_metric(metric).value
    metric.total += 1

    assert value["total"].tolist() == [0.0, 0.0, 0.0]
    assert value["parts"][0].grad_fn is None


def test_state_that_computing_writes_into_is_named() -> None:
    class Normalising(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("counts", torch.ones(3))

        def compute(self) -> torch.Tensor:
            return self.counts.div_(self.counts.sum()).sum()

    class Wrapper:
        def __init__(self) -> None:
            self.inner = Normalising()

        def compute(self) -> torch.Tensor:
            return self.inner.compute()

    assert compute_metric(Wrapper()).changed == ("inner._buffers['counts']",)


def test_a_reset_gives_the_state_back_and_says_so(device: str) -> None:
    metric = Accuracy(device)
    for _ in range(3):
        metric.update(torch.ones(1000, device=device))
    outcome = reset_metric(metric)

    assert outcome.complete
    assert outcome.expected_bytes >= 12_000
    assert (outcome.kept, len(metric.hits)) == ((), 0)
    assert outcome.did[0].startswith("state 11.7")


@pytest.mark.slow
def test_who_holds_state_after_a_reset_is_told() -> None:
    metric, logged = Accuracy(), []
    metric.update(torch.ones(1000))
    logged.append(metric.hits[0])
    outcome = reset_metric(metric)

    (survivor,) = outcome.survivors
    assert (survivor.bytes, survivor.what) == (4000, "`hits[0]` of Accuracy")
    assert "logged" in "".join(survivor.path)


def test_a_reset_that_forgets_a_list_is_told() -> None:
    class Forgetful(Accuracy):
        def reset(self) -> None:
            self.total.zero_()

    metric = Forgetful()
    metric.update(torch.ones(3))

    assert reset_metric(metric).kept == ("`hits` still has 1 tensors",)


def test_what_is_no_metric_is_refused() -> None:
    with pytest.raises(UsageError, match=r"needs an object with compute\(\); a int was given"):
        compute_metric(3)
    with pytest.raises(UsageError, match=r"needs an object with reset\(\); a list was given"):
        reset_metric([])
    assert MetricReading(1.0, 0).changed == ()
