import torch
from torch import nn
from torch.nn import functional


class LateralHead(nn.Module):
    """Joins the levels it was asked for at the finest of them and scores every pixel."""

    def __init__(self, channels, levels, classes, width=32):
        super().__init__()
        self.levels = levels
        self.laterals = nn.ModuleDict({name: nn.Conv2d(channels[name], width, 1) for name in levels})
        self.score = nn.Conv2d(width, classes, 3, padding=1)

    def forward(self, pyramid, size):
        finest, *coarser = self.levels
        joined = self.laterals[finest](pyramid[finest])
        for name in coarser:
            lateral = self.laterals[name](pyramid[name])
            joined += functional.interpolate(lateral, size=joined.shape[-2:], mode="nearest")
        scores = self.score(functional.relu_(joined))
        return functional.interpolate(scores, size=size, mode="bilinear", align_corners=False)


class Segmenter(nn.Module):
    def __init__(self, backbone, classes=9, levels=("c2", "c3", "c4")):
        super().__init__()
        self.backbone = backbone
        self.head = LateralHead(backbone.channels, levels, classes)

    def forward(self, tile):
        pyramid = self.backbone(tile)
        return self.head(pyramid, tile.shape[-2:]).argmax(1).to(torch.uint8)
