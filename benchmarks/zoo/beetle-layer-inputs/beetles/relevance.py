"""Which layers an answer depends on, from what each of them was given."""

import torch
from torch import nn


class LayerRelevance:
    def __init__(self, network, kinds=(nn.Conv2d, nn.Linear)):
        self.network = network
        self.layers = {name: part for name, part in network.named_modules() if isinstance(part, kinds)}
        self.inputs = {}

    def _listener(self, name):
        def listen(layer, given, answer):
            self.inputs[name] = given[0].detach().clone()

        return listen

    @torch.no_grad()
    def shares(self, photographs):
        """Each layer's share of the summed strength of all."""
        handles = [layer.register_forward_hook(self._listener(name)) for name, layer in self.layers.items()]
        try:
            self.network(photographs)
        finally:
            for handle in handles:
                handle.remove()
        strengths = {
            name: (rows.abs().mean() * self.layers[name].weight.abs().mean()).item()
            for name, rows in self.inputs.items()
        }
        total = sum(strengths.values())
        return [(name, strength / total) for name, strength in strengths.items()]
