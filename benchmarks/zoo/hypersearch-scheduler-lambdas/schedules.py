"""Named schedules. The report at the end draws the rate of each by name."""

import math

from torch.optim.lr_scheduler import LambdaLR

NAMED = {}


def named(name):
    def register(rate):
        NAMED[name] = rate
        return rate

    return register


def weight_scaled(name, optimizer, network, warmup):
    start = math.sqrt(sum(p.detach().square().sum().item() for p in network.parameters()))

    @named(name)
    def rate(epoch):
        size = math.sqrt(sum(p.detach().square().sum().item() for p in network.parameters()))
        return min(1.0, (epoch + 1) / warmup) * start / size

    return LambdaLR(optimizer, rate)
