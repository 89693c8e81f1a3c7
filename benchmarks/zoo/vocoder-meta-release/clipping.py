import torch


class GroupClipper:
    """Clips each part of a model by its own limit."""

    def __init__(self, limits):
        self.limits = limits
        self.parts = {}

    def watch(self, model):
        for name in self.limits:
            part = getattr(model, name)
            if part is not None:
                self.parts[name] = list(part.parameters())

    def clip(self):
        norms = {}
        for name, parameters in self.parts.items():
            norms[name] = torch.nn.utils.clip_grad_norm_(parameters, self.limits[name]).item()
        return norms
