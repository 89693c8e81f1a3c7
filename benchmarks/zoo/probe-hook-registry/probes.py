from collections import OrderedDict
from contextlib import contextmanager

import torch


class ProbeRegistry:
    """Named probes on the layers of a model; a probe of the same name takes the place of the one before."""

    def __init__(self, model):
        self.model = model
        self.probes = OrderedDict()

    def install(self, layer, probe):
        module = self.model.get_submodule(layer)
        handle = module.register_forward_hook(probe)
        self.probes[layer] = (probe, handle)

    def clear(self):
        self.probes.clear()


def covariance_probe(dim):
    """A hook that sums outer products of what a layer gives, and the function that reads the sum."""
    total, seen = torch.zeros(dim, dim), 0

    def probe(module, args, output):
        nonlocal seen
        rows = output.detach().flatten(0, -2)
        total.addmm_(rows.T, rows)
        seen += len(rows)

    def rank():
        values = torch.linalg.eigvalsh(total / seen).clamp_min(0)
        return (values.sum().square() / values.square().sum()).item()

    return probe, rank


@contextmanager
def probed(registry, layers):
    ranks = {}
    for layer, dim in layers.items():
        probe, ranks[layer] = covariance_probe(dim)
        registry.install(layer, probe)
    try:
        yield ranks
    finally:
        registry.clear()
