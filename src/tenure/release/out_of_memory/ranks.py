"""Several ranks deciding together: one flag, the largest of all ranks', exchanged on the CPU."""

from __future__ import annotations

from typing import Any

import torch


class Agreement:
    """Exchanges flags over a gloo group: nothing waits for a device, and no other collective's order is disturbed.

    With one process, or without torch.distributed, a rank agrees with itself. Making the group is a collective of its
    own where the default group is not gloo: every rank makes its agreement at the same place.
    """

    def __init__(self) -> None:
        self._group: Any = None
        distributed = torch.distributed
        self.num_ranks = 1
        if distributed.is_available() and distributed.is_initialized():
            self.num_ranks = int(distributed.get_world_size())
        if self.num_ranks > 1 and distributed.get_backend() != "gloo":
            self._group = distributed.new_group(backend="gloo")

    def any_rank(self, flag: bool) -> bool:
        """Whether the flag is set on any rank. About 0.1 ms, and it waits for the slowest rank."""
        if self.num_ranks == 1:
            return flag
        answer = torch.tensor([int(flag)], device="cpu")
        torch.distributed.all_reduce(answer, op=torch.distributed.ReduceOp.MAX, group=self._group)
        return bool(answer.item())
