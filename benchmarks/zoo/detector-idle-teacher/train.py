import torch
from distiller import Distiller


def scenes(batch=8, size=32):
    generator = torch.Generator().manual_seed(11)
    while True:
        boxes = torch.rand(batch, 5, generator=generator)
        images = torch.rand(batch, 3, size, size, generator=generator) * boxes[:, :3, None, None]
        yield images, boxes


def main(distiller):
    distiller.run(scenes())


if __name__ == "__main__":
    torch.manual_seed(11)
    main(Distiller())
