import warnings

import torch
from curvature import CurvatureProbe
from torch import nn

warnings.filterwarnings("ignore", message="Using backward")


class Regime:
    """Lowers the rate where the loss is sharp."""

    def __init__(self, optimizer, probe, ceiling=0.3):
        self.optimizer, self.probe, self.ceiling = optimizer, probe, ceiling
        self.sharpness = 0.0

    def adjust(self, model, batch, labels):
        self.sharpness = 0.5 * self.sharpness + 0.5 * abs(self.probe(model, batch, labels))
        for group in self.optimizer.param_groups:
            group["lr"] = min(self.ceiling, 0.02 / (self.sharpness + 1e-6))


def main(make_probe=CurvatureProbe, steps=40):
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(40, 120), nn.Tanh(), nn.Linear(120, 60), nn.Tanh(), nn.Linear(60, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    regime = Regime(optimizer, make_probe(nn.functional.cross_entropy))
    for step in range(steps):
        batch = torch.randn(96, 40)
        labels = batch[:, :6].argmax(1)
        regime.adjust(model, batch, labels)
        loss = nn.functional.cross_entropy(model(batch), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"{step} loss {loss.item():.4f} sharpness {regime.sharpness:.5f}")


if __name__ == "__main__":
    main()
