import torch
from torch import nn
from torch.nn import functional
from whitening import RunningWhitener


class SpeakerNet(nn.Module):
    def __init__(self, features=160, width=128, speakers=40, whitener_class=RunningWhitener):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, 192), nn.ReLU(), nn.Linear(192, width))
        self.whitener = whitener_class(width)
        self.names = nn.Parameter(torch.randn(speakers, width))

    def forward(self, statistics):
        embedding = functional.normalize(self.whitener(self.body(statistics)), dim=1)
        return embedding @ functional.normalize(self.names, dim=1).T


def additive_margin(cosines, who, margin=0.2, scale=20):
    cosines = cosines - margin * functional.one_hot(who, cosines.shape[1])
    return functional.cross_entropy(scale * cosines, who)
