"""Has a program be one rank of many in a single process: its process groups are torch's fake ones.

Collectives of such a group do nothing, or copy what this rank has; what each rank allocates is the same. The backend is
torch's own for planning and tests of shards (torch/testing/_internal/distributed/fake_pg.py; since torch 2.1).
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch

NO_FAKE = "this torch has no fake process group: --world-size cannot be planned"
_MODULES = ("torch.distributed", "torch.distributed.distributed_c10d", "torch.distributed.device_mesh")


class FakeGroup:
    """The group of a program that makes none itself: this process is the first of `world_size` ranks."""

    def __init__(self, world_size: int) -> None:
        stand_for_rank(world_size)
        self._is_made = False

    def make(self) -> None:
        """Once; further calls do nothing."""
        if not self._is_made:
            self._is_made = True
            torch.distributed.init_process_group()  # the fake one


def why_no_ranks(wrapper: str) -> str | None:
    """Why a program is not run as one rank of many under what wraps its models; None where it can be."""
    if not torch.distributed.is_available():
        return "this torch has no process groups"
    if torch.distributed.is_initialized():
        return f"the program makes process groups itself: write {wrapper} into it and plan it with --world-size"
    return None


def stand_for_rank(world_size: int) -> None:
    """From now on whatever group the program asks for is fake, of `world_size` ranks, and this process is rank 0.

    Ends the process with a line where this torch has no such backend.
    """
    try:
        from torch.testing._internal.distributed.fake_pg import FakeStore
    except ImportError:
        raise SystemExit(NO_FAKE) from None
    import torch.distributed.device_mesh  # asks for the groups of a mesh by these names

    init_process_group, new_group = torch.distributed.init_process_group, torch.distributed.new_group

    def init(*_: Any, **__: Any) -> None:
        init_process_group("fake", rank=0, world_size=world_size, store=FakeStore())

    def new(ranks: Any = None, *_: Any, **named: Any) -> Any:
        kept = {name: named[name] for name in ("use_local_synchronization", "group_desc") if name in named}
        return new_group(ranks, backend="fake", **kept)

    _reduce_in_hooks()
    for name in _MODULES:
        module = sys.modules[name]
        for asked, replacement in (("init_process_group", init), ("new_group", new)):
            if hasattr(module, asked):
                setattr(module, asked, replacement)


def _reduce_in_hooks() -> None:
    """Have each DistributedDataParallel reduce by a hook of ours: the fake group's own reductions have no result, which
    torch's reducer asks for. Hooks that the program registers are left out."""
    cls = torch.nn.parallel.DistributedDataParallel
    made, register = cls.__init__, cls.register_comm_hook

    @functools.wraps(made)
    def make(self: Any, *args: Any, **named: Any) -> None:
        made(self, *args, **named)
        register(self, None, lambda state, bucket: _reduced(bucket))  # torch looks at annotations

    cls.__init__ = make
    cls.register_comm_hook = lambda *_, **__: None


def _reduced(bucket: Any) -> Any:
    buffer = bucket.buffer()
    torch.distributed.all_reduce(buffer)
    future: Any = torch.futures.Future()
    future.set_result(buffer)
    return future
