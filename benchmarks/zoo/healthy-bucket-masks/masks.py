import torch


class BucketMasks:
    """Causal masks for the few lengths that the sampler pads to."""

    def __init__(self, buckets=(48, 96, 144, 192, 240)):
        self.buckets = buckets
        self._masks = {}

    def pad(self, length):
        return next(bucket for bucket in self.buckets if bucket >= length)

    def __getitem__(self, length):
        if length not in self._masks:
            self._masks[length] = torch.ones(length, length, dtype=torch.bool).tril()
        return self._masks[length]
