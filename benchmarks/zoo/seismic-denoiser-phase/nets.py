from torch import nn


def conv(into, out, stride=1):
    return nn.Sequential(nn.Conv1d(into, out, 7, stride, 3), nn.GroupNorm(8, out), nn.SiLU())


class Denoiser(nn.Module):
    def __init__(self, width=224):
        super().__init__()
        self.body = nn.Sequential(conv(3, width, 4), conv(width, width), conv(width, width), conv(width, width))
        self.out = nn.ConvTranspose1d(width, 3, 4, 4)

    def forward(self, waves):
        return waves - self.out(self.body(waves))


class Picker(nn.Module):
    """Probabilities of a P and of an S arrival at every sample."""

    def __init__(self, width=24):
        super().__init__()
        self.body = nn.Sequential(conv(3, width), conv(width, width), nn.Conv1d(width, 3, 1))

    def forward(self, waves):
        return self.body(waves)
