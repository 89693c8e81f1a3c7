import torch
from torch import nn


class Normalizer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        with torch.no_grad():
            self.count += len(x)
            self.mean += (x - self.mean).sum(0) / self.count
        return x - self.mean


class LossTracker:
    def __init__(self):
        self.total = torch.zeros(())
        self.steps = 0

    def add(self, loss):
        self.total.add_(loss.detach())
        self.steps += 1


def main(steps=60):
    torch.manual_seed(0)
    model = nn.Sequential(Normalizer(50), nn.Linear(50, 100), nn.ReLU(), nn.Linear(100, 1))
    optimizer = torch.optim.Adam(model.parameters())
    tracker = LossTracker()
    for _ in range(steps):
        x = torch.randn(64, 50) + 3
        loss = (model(x).squeeze(1) - x.sum(1)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tracker.add(loss)
    print((tracker.total / tracker.steps).item())


if __name__ == "__main__":
    main()
