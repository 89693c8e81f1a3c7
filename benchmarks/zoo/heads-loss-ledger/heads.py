import torch
from torch import nn
from torch.nn import functional


class DenseHead(nn.Module):
    """One pyramid level: a score and a box per place."""

    def __init__(self, width, classes=4):
        super().__init__()
        self.tower = nn.Conv2d(width, width, 3, padding=1)
        self.score, self.box = nn.Conv2d(width, classes, 1), nn.Conv2d(width, 4, 1)

    def losses(self, features, classes, boxes):
        hidden = torch.relu(self.tower(features))
        found = functional.softplus(self.box(hidden))
        return {
            "loss_cls": functional.cross_entropy(self.score(hidden), classes),
            "loss_box": functional.smooth_l1_loss(found, boxes),
            "iou": overlap(found, boxes).mean(),
        }


def overlap(found, boxes):
    """Both as distances to the four sides from the same place."""
    least, most = torch.minimum(found, boxes), torch.maximum(found, boxes)
    shared = (least[:, 0] + least[:, 2]) * (least[:, 1] + least[:, 3])
    whole = (most[:, 0] + most[:, 2]) * (most[:, 1] + most[:, 3])
    return shared / whole.clamp_min(1e-3)


class Pyramid(nn.Module):
    def __init__(self, width=16, levels=2):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 2, 1)
        self.down = nn.ModuleList(nn.Conv2d(width, width, 3, 2, 1) for _ in range(levels))
        self.heads = nn.ModuleList(DenseHead(width) for _ in range(levels))

    def forward(self, images, targets):
        x = torch.relu(self.stem(images))
        log_vars = {}
        for level, (down, head) in enumerate(zip(self.down, self.heads)):
            x = torch.relu(down(x))
            log_vars.update({f"p{level}.{key}": value for key, value in head.losses(x, *targets[level]).items()})
        return log_vars
