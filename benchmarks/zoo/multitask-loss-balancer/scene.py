import torch
from torch import nn
from torch.nn import functional


class SceneNet(nn.Module):
    """Depth, surface normals and labels of indoor scenes from one trunk."""

    def __init__(self, width=16, labels=5):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1), nn.ReLU())
        sizes = {"depth": 1, "normals": 3, "labels": labels}
        self.heads = nn.ModuleDict({name: self.head(width, out) for name, out in sizes.items()})

    def head(self, width, out):
        return nn.Sequential(nn.Conv2d(width, width, 3, 1, 1), nn.Tanh(), nn.Conv2d(width, out, 1))

    def forward(self, images):
        shared = self.trunk(images)
        return {name: head(shared) for name, head in self.heads.items()}


def task_losses(found, wanted):
    return {
        "depth": (found["depth"] - wanted["depth"]).abs().mean(),
        "normals": 1 - functional.cosine_similarity(found["normals"], wanted["normals"]).mean(),
        "labels": functional.cross_entropy(found["labels"], wanted["labels"]),
    }


def rooms(batch=4, size=48, seed=9):
    generator = torch.Generator().manual_seed(seed)
    half = size // 2
    while True:
        images = torch.rand(batch, 3, size, size, generator=generator)
        small = functional.avg_pool2d(images, 2)
        yield (
            images,
            {
                "depth": small.mean(1, keepdim=True),
                "normals": small - 0.5,
                "labels": (small.sum(1) * 5 / 3).long().clamp(0, 4).view(batch, half, half),
            },
        )
