import torch
from model import Forecaster
from monitor import Monitor
from train import windows


def main():
    torch.manual_seed(6)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    monitor = Monitor("mae", "drift")
    for step, (past, future) in enumerate(windows(50)):
        prediction, drift = model(past)
        loss = (prediction - future).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        monitor(mae=loss.detach(), drift=drift.detach())
        del prediction, drift, loss
        if step % 10 == 9:
            print(step, monitor.summary())


if __name__ == "__main__":
    main()
