import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.net(x)


class HeatProblem:
    """u'' = f on a line with u = 0 at both ends; points drawn anew each step."""

    def __init__(self, points=64):
        self.points = points
        self.generator = torch.Generator().manual_seed(27)

    def draw(self):
        return torch.rand(self.points, 1, generator=self.generator).requires_grad_()

    def residual(self, field, x):
        u = field(x) * x * (1 - x)
        (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
        return (bend + torch.sin(3.1416 * x)).square().mean()


class Solver:
    options = {"lr": 0.5, "max_iter": 2, "history_size": 2000}

    def __init__(self, problem, **options):
        self.problem, self.field = problem, Field()
        self.optimizer = torch.optim.LBFGS(self.field.parameters(), **{**self.options, **options})

    def step(self):
        x = self.problem.draw()

        def closure():
            self.optimizer.zero_grad()
            loss = self.problem.residual(self.field, x)
            loss.backward()
            return loss

        return self.optimizer.step(closure).item()
