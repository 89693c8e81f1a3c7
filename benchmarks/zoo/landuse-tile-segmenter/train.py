import torch
from backbone import Backbone
from segmenter import Segmenter


def tiles(count, side=208, seed=9):
    generator = torch.Generator().manual_seed(seed)
    rows = torch.linspace(0, 6, side)
    for number in range(count):
        field = torch.sin(rows[:, None] + number) * torch.cos(rows[None, :] * 2)
        yield torch.rand(1, 3, side, side, generator=generator).mul_(0.3).add_(field)


@torch.no_grad()
def main(backbone=Backbone, count=32):
    torch.manual_seed(40)
    segmenter = Segmenter(backbone()).eval()
    area = torch.zeros(9, dtype=torch.long)
    for number, tile in enumerate(tiles(count), 1):
        area += torch.bincount(segmenter(tile).flatten(), minlength=9)
        if number % 8 == 0:
            print(number, "tiles:", area.tolist())


if __name__ == "__main__":
    main()
