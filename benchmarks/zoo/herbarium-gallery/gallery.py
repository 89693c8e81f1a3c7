import functools
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional


def inference(method):
    """Run a method with the object's network as it is for use, and put it back afterwards."""

    @functools.wraps(method)
    def run(self, *args, **kwargs):
        was = self.network.training
        self.network.eval()
        try:
            return method(self, *args, **kwargs)
        finally:
            self.network.train(was)

    return run


class Shard:
    def __init__(self, names, vectors):
        self.names = names
        self.vectors = vectors

    def best(self, query):
        score, place = (self.vectors @ query).max(0)
        return score.item(), self.names[place.item()]


@dataclass
class Gallery:
    """Nearest neighbours among everything that was ever scanned."""

    network: nn.Module
    shards: list = field(default_factory=list)

    def unit(self, sheets):
        return functional.normalize(self.network(sheets), dim=1)

    @inference
    def extend(self, names, sheets):
        shard = Shard(names, self.unit(sheets))
        self.shards.append(shard)
        return len(self)

    @torch.no_grad()
    def find(self, query, count=3):
        return sorted((shard.best(query) for shard in self.shards), reverse=True)[:count]

    def __len__(self):
        return sum(len(shard.names) for shard in self.shards)
