from contextlib import ExitStack

import torch


class ActivationProbe:
    """Shares of silent units by layer, measured while it is switched on."""

    def __init__(self, model, kinds):
        self.layers = {name: layer for name, layer in model.named_modules() if isinstance(layer, kinds)}
        self.shares = {}
        self.seen = {}

    def __enter__(self):
        self.stack = ExitStack()
        for name, layer in self.layers.items():
            self.stack.callback(layer.register_forward_hook(self.keeper(name)).remove)
        return self

    def keeper(self, name):
        def keep(module, args, output):
            self.seen[name] = output.detach()

        return keep

    def __exit__(self, *exc):
        self.stack.close()
        for name, output in self.seen.items():
            self.shares.setdefault(name, []).append((output <= 0).to(torch.float32).mean().item())
        self.seen.clear()
