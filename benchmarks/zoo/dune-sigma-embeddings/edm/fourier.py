import math

import torch


class SigmaPlanes:
    """A noise level as a stack of planes, to be concatenated to the picture."""

    def __init__(self, planes=8, side=48):
        self.planes, self.side = planes, side
        self.frequencies = torch.exp(torch.linspace(0, 5, planes // 2))
        self.ready = {}

    def build(self, sigma):
        phase = 2 * math.pi * self.frequencies * math.log(sigma) / 4
        return torch.cat([phase.cos(), phase.sin()])[:, None, None].repeat(1, self.side, self.side)

    def plane(self, sigma):
        if sigma not in self.ready:
            self.ready[sigma] = self.build(sigma)
        return self.ready[sigma]

    def __call__(self, sigmas):
        return torch.stack([self.plane(s) for s in sigmas.tolist()])
