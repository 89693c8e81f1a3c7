from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class PackPlan:
    """How sequences of given lengths lie one after another in a packed row."""

    starts: torch.Tensor
    allowed: torch.Tensor
    positions: torch.Tensor

    @classmethod
    def of(cls, lengths):
        sizes = torch.tensor(lengths)
        owner = torch.repeat_interleave(torch.arange(len(lengths)), sizes)
        starts = sizes.cumsum(0) - sizes
        positions = torch.arange(len(owner)) - starts[owner]
        allowed = (owner[:, None] == owner) & (positions[:, None] >= positions)
        return cls(starts, allowed, positions)


class PlanCache(dict):
    def __missing__(self, lengths):
        plan = self[lengths] = PackPlan.of(lengths)
        return plan


class Packer:
    plans = PlanCache()

    @classmethod
    def plan(cls, sequences):
        return cls.plans[tuple(map(len, sequences))]
