import math
from functools import partial

import torch
from averaging import Snapshots, WeightAverage
from torch import nn

CYCLE = 4


def cyclic(step, low=0.1):
    """Cosine from one to `low`, then up again at once."""
    place = step % CYCLE / (CYCLE - 1)
    return low + (1 - low) * (1 + math.cos(math.pi * place)) / 2


def garments(batch=96, classes=8):
    generator = torch.Generator().manual_seed(81)
    shapes = torch.rand(classes, 1, 20, 20, generator=generator)
    while True:
        labels = torch.randint(classes, (batch,), generator=generator)
        yield shapes[labels] + 0.8 * torch.randn(batch, 1, 20, 20, generator=generator), labels


def accuracy(predict, images, labels):
    with torch.no_grad():
        return (predict(images).argmax(-1) == labels).float().mean().item()


def train(model, source, on_cycle_end, steps=40, microbatches=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, cyclic)
    losses = []
    for step in range(steps):
        images, labels = next(source)
        for part, wanted in zip(images.chunk(microbatches), labels.chunk(microbatches)):
            loss = nn.functional.cross_entropy(model(part), wanted) / microbatches
            loss.backward()
            losses.append(loss.item())
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        if step % CYCLE == CYCLE - 1:
            on_cycle_end(step)
    return losses


def cycle_end(average, snapshots, step):
    average.update()
    snapshots.take()
    print(f"step {step:2d}: {average.count} averaged, {len(snapshots.states)} in the ensemble")


def main():
    torch.manual_seed(80)
    model = nn.Sequential(
        nn.Conv2d(1, 12, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(12 * 81, 160), nn.ReLU(), nn.Linear(160, 8)
    )
    average, snapshots = WeightAverage(model), Snapshots(model)
    source = garments()
    losses = train(model, source, partial(cycle_end, average, snapshots))
    held_out = next(source)
    print("last loss", round(losses[-1] * 3, 4))
    for name, predict in {"model": model, "average": average.mean, "ensemble": snapshots.predict}.items():
        print(name, round(accuracy(predict, *held_out), 3))


if __name__ == "__main__":
    main()
