"""Turns raw signals into what the ranker reads."""

import torch


class Quantizer:
    """Folds hundreds of counters into a few normalised group signals."""

    def __init__(self, groups=40, buckets=30_000):
        self.groups = groups
        self.buckets = buckets

    @torch.no_grad()
    def __call__(self, batch):
        grouped = batch.dense.view(len(batch), self.groups, -1).mean(dim=2)
        signals = torch.log1p(grouped).sub_(5.0)
        items = batch.history.remainder(self.buckets).to(torch.int32)
        return signals, items
