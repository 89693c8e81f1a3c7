"""A program's models under DistributedDataParallel, for one rank of many that run in this process alone."""

from __future__ import annotations

import torch

from tenure.capture.trying.one_rank import FakeGroup
from tenure.capture.trying.program import trains
from tenure.capture.trying.whole_forward import WholeForward


class Distributed:
    """Has each outermost model run its forward through `DistributedDataParallel`, from its first call on.

    The process group is a fake one; reducing buckets are torch's own.
    """

    def __init__(self, world_size: int) -> None:
        self._group = FakeGroup(world_size)
        self._wrapped: set[int] = set()

    def wrap(self, model: torch.nn.Module) -> None:
        """Once for each model that trains."""
        if id(model) in self._wrapped or not trains(model):
            return
        self._wrapped.add(id(model))
        self._group.make()
        copies = torch.nn.parallel.DistributedDataParallel(WholeForward(model))
        model.__dict__["forward"] = copies.__call__
