import torch
from loop import Loop
from sru import Tagger


def sentences(batch=16, length=24):
    generator = torch.Generator().manual_seed(2)
    while True:
        ids = torch.randint(150, (batch, length), generator=generator)
        yield ids, ids % 9


def main(steps=30):
    torch.manual_seed(2)
    loop, kept = Loop(Tagger()), 0
    for number, (ids, tags) in zip(range(steps), sentences()):
        kept += loop.step(ids, tags)
        if number % 10 == 0:
            print(number, f"{loop.loss.item():.4f}", kept)


if __name__ == "__main__":
    main()
