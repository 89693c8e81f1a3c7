import torch
from feed import TileFeed, tiles
from orbit import Orbit
from torch import nn
from torch.nn import functional


class CloudShare(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(4, width, 5, 2, 2), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ReLU()
        )
        self.head = nn.Linear(2 * width, 1)

    def forward(self, values):
        return self.head(self.body(values).mean((2, 3))).squeeze(1)


class Regression:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)

    def step(self, values, share):
        loss = functional.binary_cross_entropy_with_logits(self.net(values), share)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(steps=60):
    torch.manual_seed(76)
    regression = Regression(CloudShare())
    feed = TileFeed(Orbit().scenes(steps), tiles)
    for number, batch in enumerate(feed, 1):
        loss = regression.step(*batch)
        del batch
        if number % 12 == 0:
            print(f"{number:2d} {loss:.4f}")


if __name__ == "__main__":
    main()
