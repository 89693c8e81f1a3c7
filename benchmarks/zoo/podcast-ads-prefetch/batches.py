from dataclasses import dataclass

import torch


@dataclass
class AdBatch:
    """One shard of impressions as the log service hands them out."""

    counters: torch.Tensor  # how often, how long, how many, per listener and show
    slots: torch.Tensor  # raw 64-bit identifiers
    clicks: torch.Tensor


class ImpressionLog:
    def __init__(self, rows=3072, counters=112, slots=9, seed=3):
        self.shape = rows, counters, slots
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        return self

    def __next__(self):
        rows, counters, slots = self.shape
        amounts = torch.rand(rows, counters, generator=self.generator).mul_(60).square_()
        identifiers = torch.randint(2**40, (rows, slots), generator=self.generator)
        odds = (identifiers[:, 0] % 7).float() / 14 + (amounts[:, 3] > 1200).float() / 4
        return AdBatch(amounts, identifiers, (odds > torch.rand(rows, generator=self.generator)).float())
