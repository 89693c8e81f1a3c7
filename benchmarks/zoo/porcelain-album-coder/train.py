"""Diffusion on latents of porcelain glazes: encode the album once, then train the denoiser."""

import torch

from glaze.album import Album
from glaze.stages import Denoising, Encoding, Pipeline


def run(stages, pipeline, album):
    for stage in stages:
        stage(pipeline, album)


def main(encoding_class=Encoding):
    torch.manual_seed(15)
    run([encoding_class(), Denoising(steps=40)], Pipeline.build(), Album())


if __name__ == "__main__":
    main()
