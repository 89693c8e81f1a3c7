from torch import nn


def spectral(width, depth, species):
    """A stack of convolutions over log-mel patches."""
    layers, into = [], 1
    for level in range(depth):
        out = width * 2 ** min(level, 2)
        layers += [nn.Conv2d(into, out, 3, 2 if level < 3 else 1, 1), nn.BatchNorm2d(out), nn.ReLU()]
        into = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(into, species))


def student(species=20):
    return spectral(16, 3, species)


def teacher(species=20):
    return spectral(64, 5, species)
