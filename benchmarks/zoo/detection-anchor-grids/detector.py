import anchors
import torch
from torch import nn


class Neck(nn.Sequential):
    def __init__(self, width=12):
        super().__init__(
            nn.Conv2d(3, width, 3, stride=2, padding=1), nn.SiLU(), nn.Conv2d(width, width, 3, stride=2, padding=1)
        )


class AnchorDetector(nn.Module):
    stride = 4

    def __init__(self, width=12, per_cell=3):
        super().__init__()
        self.neck = Neck(width)
        self.score = nn.Conv2d(width, per_cell, 1)
        self.shift = nn.Conv2d(width, 4 * per_cell, 1)

    def forward(self, images):
        cells = torch.nn.functional.silu(self.neck(images))
        scores = self.score(cells).permute(0, 2, 3, 1).flatten(1)
        shifts = self.shift(cells).permute(0, 2, 3, 1).reshape(images.size(0), -1, 4)
        grid = anchors.anchor_grid(*cells.shape[-2:], self.stride)
        return scores, grid[:, :2] + shifts[..., :2] * self.stride, grid[:, 2:] * shifts[..., 2:].exp()


class DetectionLoss(nn.Module):
    def forward(self, prediction, boxes):
        scores, centres, sizes = prediction
        distance = (centres.detach() - boxes[:, None, :2]).norm(dim=-1)
        best = distance.argmin(1)
        rows = torch.arange(len(best))
        place = (centres[rows, best] - boxes[:, :2]).abs().mean() / 16
        shape = (sizes[rows, best] / boxes[:, 2:]).log().abs().mean()
        return place + shape + nn.functional.cross_entropy(scores, best)
