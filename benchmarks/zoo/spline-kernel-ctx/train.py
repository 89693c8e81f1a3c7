"""Fits river cross-sections with learned splines."""

import torch

from splines.layers import ProfileNet
from splines.rivers import Surveys


def fit(net, surveys, steps=36):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    for step in range(steps):
        positions, depths = surveys.draw()
        loss = (net(positions) - depths).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 12 == 11:
            print(f"step {step} depth error {loss.item():.4f}")


def main(net_class=ProfileNet):
    torch.manual_seed(2)
    fit(net_class(), Surveys())


if __name__ == "__main__":
    main()
