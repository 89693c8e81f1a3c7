import torch
from selftrain import Labeller, SelfTrainer
from spectra import SpectraSet
from torch import nn


def build(bands=200, width=256, minerals=10):
    return nn.Sequential(
        nn.Linear(bands, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, minerals)
    )


def main(labeller=Labeller, rounds=4, batches=12):
    torch.manual_seed(110)
    data = SpectraSet()
    pool = [data.sample(64)[0] for _ in range(batches)]
    model = build()
    trainer = SelfTrainer(model, labeller(model))
    for number in range(rounds):
        confidence = trainer.begin_round(pool)
        used = 0
        for position, unlabelled in enumerate(pool):
            loss, sure = trainer.step(*data.sample(32), unlabelled, position)
            used += sure
        print(f"round {number}: confidence {confidence:.3f}, {used} pseudo-labels, last loss {loss:.3f}")


if __name__ == "__main__":
    main()
