import torch
from torch import nn
import torch.nn.functional as F

from lagged import LaggedTeacher


class Forecaster(nn.Module):
    def __init__(self, past=96, future=24, width=160):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(past, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.out = nn.Linear(width, future)

    def forward(self, series):
        return self.out(self.trunk(series))


def series(count, batch=32, seed=271):
    gen = torch.Generator().manual_seed(seed)
    t = torch.arange(120)
    for _ in range(count):
        phase = torch.rand(batch, 1, generator=gen) * 6.28
        wave = torch.sin(t / 7 + phase) + 0.1 * torch.randn(batch, 120, generator=gen)
        yield wave[:, :96], wave[:, 96:]


def main(steps=50):
    torch.manual_seed(270)
    model = Forecaster()
    lagged = LaggedTeacher(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for past, future in series(steps):
        lagged.tick()
        guess = model(past)
        loss = F.mse_loss(guess, future) + 0.2 * F.mse_loss(guess, lagged.targets(past))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"last loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
