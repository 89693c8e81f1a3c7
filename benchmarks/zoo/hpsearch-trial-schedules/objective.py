import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


class Objective:
    def __init__(self, steps=2):
        self.steps = steps
        generator = torch.Generator().manual_seed(4)
        self.series = torch.randn(96, 72, generator=generator).cumsum(1)

    def schedule(self, optimizer, trial):
        trial.schedule = LambdaLR(optimizer, lambda step: 1 / (1 + trial.params["decay"] * step))
        return trial.schedule

    def __call__(self, trial):
        model = nn.Sequential(nn.Linear(60, 160), nn.Tanh(), nn.Linear(160, 12))
        optimizer = torch.optim.SGD(model.parameters(), lr=trial.params["lr"])
        schedule = self.schedule(optimizer, trial)
        for _ in range(self.steps):
            loss = (model(self.series[:, :60]) - self.series[:, 60:]).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        return loss.item()
