import torch
from torch import nn


class Registry:
    """Feature towers by the name that the config files use."""

    def __init__(self):
        self.makers, self.built = {}, {}

    def tower(self, name):
        def keep(maker):
            self.makers[name] = maker
            return maker

        return keep

    def make(self, name):
        return self.makers[name]().eval().requires_grad_(False)

    def get(self, name):
        if name not in self.built:
            self.built[name] = self.make(name)
        return self.built[name]


registry = Registry()


@registry.tower("frames")
class FrameTower(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, 2, 1),
            nn.GELU(),
            nn.Conv2d(width, 2 * width, 3, 2, 1),
            nn.GELU(),
            nn.Conv2d(2 * width, 4 * width, 3, 2, 1),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )

    def forward(self, stimulus):
        return self.body(stimulus["frames"])


@registry.tower("speech")
class SpeechTower(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.rnn = nn.GRU(40, width, num_layers=2, batch_first=True)

    def forward(self, stimulus):
        return self.rnn(stimulus["mel"])[0][:, -1]


@registry.tower("words")
class WordTower(nn.Module):
    def __init__(self, vocabulary=6000, width=192):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.mix = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, stimulus):
        return self.mix(self.embed(stimulus["words"]).mean(1))


@torch.no_grad()
def extract(towers, stimuli):
    """Features of all the towers side by side, z-scored."""
    rows = [torch.cat([tower(stimulus) for tower in towers], -1) for stimulus in stimuli]
    features = torch.cat(rows)
    return (features - features.mean(0)) / (features.std(0) + 1e-6)
