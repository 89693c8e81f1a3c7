import torch
from algorithms import Plateau, WeightAverage
from engine import Engine, State
from torch import nn


def pictures(count, batch=16):
    generator = torch.Generator().manual_seed(6)
    for _ in range(count):
        images = torch.rand(batch, 3, 16, 16, generator=generator)
        yield images, (images.mean((2, 3)).argmax(1))


def main(average):
    torch.manual_seed(6)
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, stride=2),
        nn.GroupNorm(4, 32),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 49, 48),
        nn.Linear(48, 3),
    )
    state = State(model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9))
    (held_out,) = pictures(1, batch=64)
    Engine(state, [average, Plateau()]).fit(pictures(40), held_out)


if __name__ == "__main__":
    main(WeightAverage())
