"""Gradient descent that also searches along its own most recent directions."""

import torch
from torch.optim import Optimizer


class SubspaceDescent(Optimizer):
    def __init__(self, params, lr=0.05, memory=4, mix=0.3):
        super().__init__(params, dict(lr=lr, memory=memory, mix=mix))

    def remember(self, state, direction):
        state["directions"].append(direction)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                state = self.state[param]
                state.setdefault("directions", [])
                direction = param.grad.clone()
                recent = state["directions"][-group["memory"] :]
                for weight, past in enumerate(recent, 1):
                    direction.add_(past, alpha=group["mix"] * weight / sum(range(1, len(recent) + 1)))
                param.add_(direction, alpha=-group["lr"])
                self.remember(state, direction)
        return loss
