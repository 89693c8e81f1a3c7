from functools import partial

import torch


class Callback:
    def on_epoch_start(self, epoch, model):
        pass

    def on_epoch_end(self, epoch, model):
        pass


class SpectrumAudit(Callback):
    """Compares each epoch's activation energy per channel and place with that of the epoch before."""

    def __init__(self, layers, shape):
        self.layers = layers
        self.shape = shape
        self.energy = {}
        self.report = {}

    def on_epoch_start(self, epoch, model):
        for name in self.layers:
            sums = torch.zeros(self.shape)
            layer = model.get_submodule(name)
            layer.register_forward_hook(partial(self.accumulate, sums))
            self.energy[name] = sums

    def accumulate(self, sums, layer, args, output):
        if layer.training:
            sums += output.detach().square().mean(0)

    def on_epoch_end(self, epoch, model):
        for name, sums in self.energy.items():
            self.report[name] = (sums.mean().item(), sums.amax().item())
