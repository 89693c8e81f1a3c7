import torch


class Smoothness:
    """How alike the atoms of a molecule become from layer to layer, told now and then."""

    def __init__(self, every=10):
        self.every = every
        self.history = []

    def __call__(self, step, result, loss):
        self.history += (result,)
        if step % self.every == 0:
            print(f"{step:3d} loss {loss:.3f} spread", " ".join(f"{x:.3f}" for x in self.spread()))

    @torch.no_grad()
    def spread(self):
        recent = self.history[-self.every :]
        layers = zip(*(result.hidden for result in recent))
        return [sum(h.std(1).mean().item() for h in layer) / len(recent) for layer in layers]


class Report:
    """Passes everything on to its parts."""

    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, **told):
        for part in self.parts:
            part(**told)
