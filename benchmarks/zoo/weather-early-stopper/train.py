import math

import torch
from callbacks import EarlyStopping
from torch import nn


class Forecaster(nn.Module):
    """A day of hourly readings in, the next six hours out."""

    def __init__(self, width=96):
        super().__init__()
        self.rnn = nn.GRU(4, width, batch_first=True)
        self.head = nn.Linear(width, 6)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])


def station(hours=700, seed=0):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(hours)
    temp = torch.sin(t * 2 * math.pi / 24) + 0.3 * torch.sin(t * 2 * math.pi / 170)
    wind = torch.randn(hours, generator=g).cumsum(0) * 0.02
    return torch.stack([temp, temp.roll(3) * 0.7, wind, torch.rand(hours, generator=g) * 0.1], 1)


def windows(series, every=8):
    starts = range(0, len(series) - 30, every)
    x = torch.stack([series[s : s + 24] for s in starts])
    y = torch.stack([series[s + 24 : s + 30, 0] for s in starts])
    return x, y


def validate(model, x, y):
    model.eval()
    with torch.no_grad():
        error = nn.functional.mse_loss(model(x), y).item()
    model.train()
    return error


def main(stopper=None):
    torch.manual_seed(4)
    stopper = stopper or EarlyStopping()
    train_x, train_y = windows(station())
    valid_x, valid_y = windows(station(300, seed=1))
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(40):
        loss = nn.functional.mse_loss(model(train_x), train_y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        error = validate(model, valid_x, valid_y)
        stopper.on_validation(model, error)
        if epoch % 8 == 0:
            print(f"epoch {epoch:2d} train {loss.item():.4f} valid {error:.4f}")
        if stopper.stop:
            print("stopped after", epoch)
            break
    stopper.on_train_end(model)


if __name__ == "__main__":
    main()
