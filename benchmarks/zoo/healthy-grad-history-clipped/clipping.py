"""Clips by what is usual: the median over the last few gradients of each parameter."""

from __future__ import annotations

from collections import defaultdict, deque
from functools import partial

import torch
from torch import nn


class UsualGradient:
    def __init__(self, module: nn.Module, window: int = 6, times: float = 3.0) -> None:
        self.times = times
        self.history: dict[str, deque[torch.Tensor]] = defaultdict(partial(deque, maxlen=window))
        for name, parameter in module.named_parameters():
            parameter.register_hook(partial(self.clip, name))

    def clip(self, name: str, grad: torch.Tensor) -> torch.Tensor:
        past = self.history[name]
        past.append(grad.detach().clone())
        usual = torch.stack([g.abs() for g in past]).median(0).values
        return grad.clamp(-self.times * usual, self.times * usual)
