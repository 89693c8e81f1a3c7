import math

import torch
from callbacks import Schedule, TermMeans
from model import QuantileForecaster
from trainer import Trainer


def sales(batches=12, stores=64, past=56, ahead=48, seed=7):
    """Weekly and yearly cycles with noise."""
    generator = torch.Generator().manual_seed(seed)
    days = torch.arange(past + ahead)
    dataset = []
    for _ in range(batches):
        phase = torch.rand(stores, 1, generator=generator) * math.tau
        level = torch.rand(stores, 1, generator=generator) + 0.5
        curve = level + 0.4 * torch.sin(days * math.tau / 7 + phase) + 0.2 * torch.cos(days * math.tau / 90)
        curve = curve + 0.1 * torch.randn(stores, past + ahead, generator=generator)
        dataset.append((curve[:, :past], curve[:, past:]))
    return dataset


def main(means=TermMeans, epochs=4):
    torch.manual_seed(0)
    trainer = Trainer(QuantileForecaster(), callbacks=[means(), Schedule()])
    trainer.train(sales(), epochs)


if __name__ == "__main__":
    main()
