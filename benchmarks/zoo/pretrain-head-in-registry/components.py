from registry import register
from torch import nn


@register("encoder")
def encoder(width=128):
    return nn.Sequential(nn.Linear(96, width), nn.GELU(), nn.Linear(width, width))


@register("reconstruction_head")
def reconstruction_head(width=128):
    return nn.Sequential(nn.Linear(width, 2048), nn.GELU(), nn.Linear(2048, 96))


@register("classifier")
def classifier(width=128, classes=12):
    return nn.Linear(width, classes)
