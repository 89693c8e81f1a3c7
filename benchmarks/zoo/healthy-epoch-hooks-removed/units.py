from contextlib import ExitStack, contextmanager

import torch


class DeadUnits:
    """Share of units that never fire during one epoch."""

    def __init__(self, layers):
        self.layers = layers
        self.fired = {}

    @contextmanager
    def epoch(self, model):
        with ExitStack() as stack:
            self.fired = {}
            for name in self.layers:
                handle = model.get_submodule(name).register_forward_hook(self.counter(name))
                stack.callback(handle.remove)
            yield

    def counter(self, name):
        def count(layer, args, output):
            fired = (output.detach() > 0).any(0)
            self.fired[name] = fired | self.fired[name] if name in self.fired else fired

        return count

    def share(self):
        return {name: 1 - fired.float().mean().item() for name, fired in self.fired.items()}


def tables(rows, generator):
    x = torch.randn(rows, 60, generator=generator)
    return x, (x[:, 0] * x[:, 1] > 0).long()
