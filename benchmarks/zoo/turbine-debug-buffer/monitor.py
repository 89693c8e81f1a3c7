import logging

import torch
from torch import nn

log = logging.getLogger("turbine.monitor")


class Autoencoder(nn.Module):
    def __init__(self, channels=9, width=32):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv1d(channels, width, 9, stride=4), nn.GELU(), nn.Conv1d(width, 12, 5, stride=2))
        self.dec = nn.Sequential(
            nn.ConvTranspose1d(12, width, 5, stride=2, output_padding=1), nn.GELU(),
            nn.ConvTranspose1d(width, channels, 9, stride=4),
        )

    def forward(self, x):
        y = self.dec(self.enc(x))
        return nn.functional.pad(y, (0, x.shape[-1] - y.shape[-1]))


class Monitor:
    def __init__(self, net):
        self.net = net
        self.threshold = None

    def residual(self, window):
        return window - self.net(window)

    @torch.no_grad()
    def check(self, number, window):
        residual = self.residual(window)
        level = residual.abs().mean((1, 2))
        self.describe(number, residual, level)
        worst = float(level.max())
        self.threshold = worst if self.threshold is None else 0.9 * self.threshold + 0.1 * worst
        return int((level > 1.5 * self.threshold).sum())

    def describe(self, number, residual, level):
        log.debug("window %d residual %s level %s", number, residual, level)
