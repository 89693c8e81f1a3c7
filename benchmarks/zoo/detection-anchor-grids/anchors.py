import torch

_GRIDS = {}


def anchor_grid(height, width, stride, sizes=(16, 32, 64)):
    """Centre and size of each anchor, row by row: (height * width * sizes, 4)."""
    key = f"{height}x{width}/{stride}"
    try:
        return _GRIDS[key]
    except KeyError:
        pass
    ys, xs = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    centres = (torch.stack([xs, ys], -1).reshape(-1, 1, 2) + 0.5) * stride
    shapes = torch.tensor(sizes, dtype=torch.float32).reshape(1, -1, 1).expand(1, -1, 2)
    grid = torch.cat([centres.expand(-1, len(sizes), 2), shapes.expand(centres.size(0), -1, 2)], -1).reshape(-1, 4)
    _GRIDS[key] = grid
    return grid
