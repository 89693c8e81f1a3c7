import torch
from agreement import TwoViews
from layers import Quiet
from torch import nn


def main(layer=Quiet, steps=40):
    torch.manual_seed(5)
    encoder = nn.Sequential(layer(nn.Linear(60, 96)), layer(nn.Linear(96, 96)), nn.Linear(96, 32))
    learner = TwoViews(encoder, nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32)))
    windows = torch.randn(2000, 60).cumsum(1) / 4
    for step in range(steps):
        loss, penalty = learner.step(windows[torch.randint(2000, (192,))])
        if step % 10 == 0:
            print(f"{step:2d} agreement {loss:.4f} quiet {penalty:.5f}")


if __name__ == "__main__":
    main()
