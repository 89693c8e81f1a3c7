"""A program's models under DistributedDataParallel, for one rank of many that run in this process alone."""

from __future__ import annotations

import torch

from tenure.capture.trying.one_rank import FakeGroup
from tenure.capture.trying.program import BeforeCall, once_for_each
from tenure.capture.trying.whole_forward import WholeForward


def reduce_in_buckets(world_size: int) -> BeforeCall:
    """Has each outermost model run its forward through `DistributedDataParallel`, from its first call on.

    The process group is a fake one; the buckets are torch's own.
    """
    group = FakeGroup(world_size)

    def wrap(model: torch.nn.Module) -> None:
        group.make()
        copies = torch.nn.parallel.DistributedDataParallel(WholeForward(model))
        model.__dict__["forward"] = copies.__call__

    return once_for_each(wrap)
