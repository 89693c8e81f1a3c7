import torch
from engine import Stages
from optim import FlatMomentum
from torch import nn


def mlp(width, depth):
    layers = [nn.Linear(48, width), nn.Tanh()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(width, 48))


def run_stage(stages, name, module, lr, steps, generator):
    engine = stages.start(name, module, FlatMomentum(module.parameters(), lr))
    for step in range(steps):
        x = torch.randn(32, 48, generator=generator)
        loss = engine.train_batch(x, x.roll(1, dims=1))
        if step % 10 == 0:
            print(name, step, f"{loss:.4f}")
    stages.finish(name)


def main(stages):
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    run_stage(stages, "warmup", mlp(384, 3), 0.01, 8, generator)
    run_stage(stages, "main", mlp(96, 2), 0.05, 36, generator)


if __name__ == "__main__":
    main(Stages())
