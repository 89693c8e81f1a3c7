import torch
from torch.nn import functional


def make_optimizer(trunk, head):
    groups = [
        {"params": trunk.parameters(), "lr": 3e-4, "name": "trunk"},
        {"params": head.parameters(), "name": "head"},
    ]
    return torch.optim.AdamW(groups, lr=3e-3, weight_decay=0.01)


class TwoStageTuning:
    """A few steps through the whole net; then the trunk's features are taken once and only the head goes on."""

    def __init__(self, trunk, head):
        self.trunk, self.head = trunk, head
        self.optimizer = make_optimizer(trunk, head)

    def step(self, x, y):
        loss = functional.cross_entropy(self.head(x if self.trunk is None else self.trunk(x)), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def features(self, images):
        return torch.cat([self.trunk(part) for part in images.split(100)])

    def freeze(self, images):
        features = self.features(images)
        self.trunk = None
        return features
