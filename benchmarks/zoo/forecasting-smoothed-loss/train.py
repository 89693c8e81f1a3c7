import math

import torch
from model import Forecaster
from monitor import Monitor


def windows(steps, batch=32, history=48, horizon=12):
    time = torch.arange(history + horizon) * (2 * math.pi / 24)
    for _ in range(steps):
        phase = torch.rand(batch, 1) * 6.28
        series = torch.sin(time + phase) + 0.1 * torch.randn(batch, history + horizon)
        yield series[:, :history], series[:, history:]


def main():
    torch.manual_seed(6)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    monitor = Monitor("mae", "drift")
    for step, (past, future) in enumerate(windows(50)):
        prediction, drift = model(past)
        loss = (prediction - future).abs().mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=False)
        optimizer.step()
        monitor(mae=loss, drift=drift)
        if step % 10 == 9:
            print(step, monitor.summary())


if __name__ == "__main__":
    main()
