import torch

from sketches.atelier import Atelier


def real_sketches(count, batch=48, size=32, seed=901):
    gen = torch.Generator().manual_seed(seed)
    grid = torch.linspace(-1, 1, size)
    for _ in range(count):
        waist = torch.rand(batch, 1, 1, generator=gen) * 0.5 + 0.2
        flare = torch.rand(batch, 1, 1, generator=gen) * 0.5
        outline = grid[None, None, :].abs() < waist + flare * grid[None, :, None]
        yield outline.float()[:, None] * 2 - 1


def main(steps=30):
    torch.manual_seed(900)
    atelier = Atelier()
    for number, real in enumerate(real_sketches(steps)):
        dark = atelier.step(number, real)
    print(f"ink {dark:.3f}")


if __name__ == "__main__":
    main()
