import torch
import torch.nn.functional as F
from torch import nn


class SimCLR(nn.Module):
    def __init__(self, width=128, embedding=64):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.projector = nn.Linear(width, embedding)

    def forward(self, x):
        return F.normalize(self.projector(self.backbone(x)), dim=-1)


def info_nce(a, b, temperature=0.2):
    scores = a @ b.t() / temperature
    return F.cross_entropy(scores, torch.arange(len(a)))


def uniformity(z):
    return torch.pdist(z).pow(2).mul(-2).exp().mean().log()
