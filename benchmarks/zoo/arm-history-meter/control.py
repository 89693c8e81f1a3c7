import functools

import torch
from history import History


class GrowthMeter:
    """Counts the numbers that each decision adds to the history."""

    def __init__(self):
        self.sizes = []

    def record(self, before, after):
        self.sizes.append(sum(t.numel() for t in after) - sum(t.numel() for t in before))


def metered(method):
    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        before = self.history.tensors()
        answer = method(self, *args, **kwargs)
        self.meter.record(before, self.history.tensors())
        return answer

    return wrapper


class Controller:
    def __init__(self, policy):
        self.policy = policy.eval()
        self.meter = GrowthMeter()
        self.history = None

    def reset(self):
        self.history = History(self.policy.depth)

    @metered
    @torch.inference_mode()
    def act(self, states):
        return self.policy(states, self.history)
