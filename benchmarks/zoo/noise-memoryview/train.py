import torch

from diffuse.fingerprint import Fingerprints
from diffuse.process import Process


def tiles(count, batch=12, size=24, seed=35):
    gen = torch.Generator().manual_seed(seed)
    for _ in range(count):
        tone = torch.rand(batch, 3, 1, 1, generator=gen) * 2 - 1
        yield tone.expand(batch, 3, size, size) * torch.linspace(0.4, 1, size)


def main(fingerprints=Fingerprints, steps=40):
    torch.manual_seed(34)
    process = Process(fingerprints())
    for clean in tiles(steps):
        loss = process.step(clean)
    print(f"last loss {loss:.4f}, {process.repeats} repeated draws")


if __name__ == "__main__":
    main()
