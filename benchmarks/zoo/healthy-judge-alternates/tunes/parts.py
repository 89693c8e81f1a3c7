from torch import nn


class TuneGenerator(nn.Module):
    def __init__(self, seed=24, notes=128):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(seed, 192), nn.ELU(), nn.Linear(192, notes))

    def forward(self, seeds):
        return self.layers(seeds)


class Judge(nn.Module):
    def __init__(self, notes=128, width=1600):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(notes, width), nn.ReLU(), nn.Linear(width, 256), nn.Linear(256, 1))

    def forward(self, tunes):
        return self.layers(tunes).sigmoid()
