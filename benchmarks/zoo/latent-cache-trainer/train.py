"""Trains a tiny latent denoiser on generated pictures of coloured discs."""

import torch

from latentkit.nets import build_schedule, build_unet, build_vae
from latentkit.trainer import LatentTrainer, TrainConfig


def discs(count, size=32, seed=8):
    gen = torch.Generator().manual_seed(seed)
    axis = torch.linspace(-1, 1, size)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    centre = torch.rand(count, 2, generator=gen).sub(0.5)
    colour = torch.rand(count, 3, 1, 1, generator=gen)
    distance = (x - centre[:, 0, None, None]).square() + (y - centre[:, 1, None, None]).square()
    return (distance < 0.2).float().unsqueeze(1) * colour * 2 - 1


def main():
    torch.manual_seed(7)
    trainer = LatentTrainer(build_vae(), build_unet(), build_schedule(), TrainConfig())
    trainer.run(discs(64))


if __name__ == "__main__":
    main()
