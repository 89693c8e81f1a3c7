import torch
from failures import Trail
from torch import nn


class DivergenceError(ArithmeticError):
    pass


class Solver(nn.Module):
    """Explicit Euler; where it runs away the whole cohort is done again with a finer step."""

    def __init__(self, field, horizon=4.0, coarse=16, refinements=3, trail=None):
        super().__init__()
        self.field = field
        self.horizon, self.coarse, self.refinements = horizon, coarse, refinements
        self.trail = Trail() if trail is None else trail

    def integrate(self, amount, clearance, steps):
        path = [amount]
        for _ in range(steps):
            amount = amount + self.horizon / steps * self.field(amount, clearance)
            path.append(amount)
            if amount.detach().abs().max() > 20:
                raise DivergenceError(f"{len(path)} of {steps} steps")
        return torch.stack(path)

    def forward(self, dose, clearance):
        for level in range(self.refinements):
            try:
                return self.integrate(dose, clearance, self.coarse * 2**level)
            except DivergenceError as error:
                self.trail.add(level, error)
        raise DivergenceError("finest step") from self.trail.last.error
