import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self, classes=12):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 12, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU()
        )
        self.cls_head = nn.Conv2d(24, classes, 1)
        self.box_head = nn.Conv2d(24, 4, 1)
        self.mask_head = nn.Sequential(nn.Conv2d(24, 24, 1), nn.SiLU(), nn.Conv2d(24, classes, 1))

    def forward(self, images):
        features = self.backbone(images)
        return {
            "scores": self.cls_head(features),
            "boxes": self.box_head(features),
            "masks": self.mask_head(features).sigmoid(),
        }


def detection_loss(outputs, targets):
    cls = nn.functional.cross_entropy(outputs["scores"], targets["labels"])
    box = nn.functional.l1_loss(outputs["boxes"], targets["boxes"])
    return cls + box
