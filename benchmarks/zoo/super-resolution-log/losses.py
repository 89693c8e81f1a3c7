from torch import nn
from torch.nn import functional as F

TERMS = {}


def term(name, start=0, weight=1.0):
    """Register a term that counts from step `start` on; it is reported from the beginning."""

    def register(function):
        TERMS[name] = (function, start, weight)
        return function

    return register


class Features(nn.Module):
    """Frozen random filters in the part of a pretrained network."""

    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1), nn.ReLU()
        )
        self.requires_grad_(False)

    def forward(self, images):
        return self.net(images)


@term("pixel")
def pixel(output, target, features):
    return F.l1_loss(output, target)


@term("perceptual", start=5000, weight=0.1)
def perceptual(output, target, features):
    return F.mse_loss(features(output), features(target))


@term("smooth", weight=0.01)
def smooth(output, target, features):
    return output.diff(dim=-1).abs().mean() + output.diff(dim=-2).abs().mean()


class Criterion:
    def __init__(self, features):
        self.features = features
        self.step = 0
        self.terms = {}

    def __call__(self, output, target):
        self.terms = {name: function(output, target, self.features) for name, (function, _, _) in TERMS.items()}
        total = sum(TERMS[name][2] * value for name, value in self.terms.items() if self.step >= TERMS[name][1])
        self.step += 1
        return total

    @property
    def line(self):
        return "  ".join(f"{name} {value.item():.3g}" for name, value in self.terms.items())
