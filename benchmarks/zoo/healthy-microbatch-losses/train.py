import torch
from accumulate import Window, contrastive
from torch import nn


def footsteps(count, batch=24, length=200):
    """Steps of a few walkers, from a sensor under the floor."""
    generator = torch.Generator().manual_seed(29)
    walkers = torch.randn(12, length, generator=generator).cumsum(1) / 4
    for _ in range(count):
        who = torch.randint(12, (batch,), generator=generator)
        yield walkers[who] + torch.randn(batch, length, generator=generator), who


def main(updates=15, size=4):
    torch.manual_seed(28)
    net = nn.Sequential(nn.Linear(200, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 16))
    window = Window(torch.optim.Adam(net.parameters(), lr=1e-3), size)
    for number, (steps, who) in enumerate(footsteps(updates * size), 1):
        window.add(contrastive(net(steps), who))
        if number % (5 * size) == 0:
            print(len(window.means), f"{window.means[-1]:.4f}")


if __name__ == "__main__":
    main()
