import torch
from outputs import InstanceOutput
from torch import nn
from torch.nn import functional


class QuerySegmenter(nn.Module):
    """A mask and a class for each of a few queries."""

    def __init__(self, classes=6, queries=10, width=24):
        super().__init__()
        self.pixels = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.GELU(), nn.Conv2d(width, width, 3, 2, 1))
        self.queries = nn.Parameter(torch.randn(queries, width) / width**0.5)
        self.classify = nn.Linear(width, classes + 1)

    def forward(self, images):
        features = self.pixels(images)
        masks = torch.einsum("qc,bchw->bqhw", self.queries, features)
        weights = masks.flatten(2).softmax(-1)
        classes = self.classify(weights @ features.flatten(2).transpose(1, 2))
        full = functional.interpolate(masks, scale_factor=4, mode="bilinear", align_corners=False)
        return InstanceOutput(classes, masks, full, features)


class SetLoss(nn.Module):
    """Matches queries and instances by the coarse masks, then weighs the fine ones."""

    @torch.no_grad()
    def match(self, coarse, masks):
        small = functional.max_pool2d(masks, 4).flatten(2)
        return (coarse.flatten(2).sigmoid() @ small.transpose(1, 2)).argmax(1)

    def forward(self, coarse, fine, logits, masks, labels):
        chosen = self.match(coarse, masks)
        rows = torch.arange(len(labels))[:, None]
        hit = fine[rows, chosen].sigmoid()
        overlap = 2 * (hit * masks).sum((2, 3)) / (hit.sum((2, 3)) + masks.sum((2, 3)) + 1)
        return functional.cross_entropy(logits[rows, chosen].flatten(0, 1), labels.flatten()) + (1 - overlap).mean()
