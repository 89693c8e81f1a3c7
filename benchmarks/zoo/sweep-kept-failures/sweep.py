import torch
from torch import nn


class Diverged(RuntimeError):
    pass


class Sweep:
    def __init__(self):
        self.failures = []
        self.finished = 0

    def trial(self, learning_rate):
        model = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
        x = torch.randn(512, 32)
        loss = (model(x).squeeze(1) - x.sum(1)).pow(2).sum()
        loss.backward()
        optimizer.step()
        if not loss.item() < 100:
            raise Diverged(f"{learning_rate:.3g} diverged")
        return loss.item()

    def run(self, rates):
        for rate in rates:
            try:
                self.trial(rate)
                self.finished += 1
            except Diverged as failure:
                self.note(failure)

    def note(self, failure):
        self.failures.append(failure)
