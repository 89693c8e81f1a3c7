import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits


def build():
    return nn.Sequential(
        nn.Conv2d(4, 12, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(12, 12, 3, padding=1, groups=3),
        nn.ReLU(),
        nn.Conv2d(12, 1, 1),
    )


def tiles(count, batch=4, size=48, seed=73):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        image = torch.randn(batch, 4, size, size, generator=generator)
        yield image, image.mean(1, keepdim=True) > 0.3


class Segmentation:
    def __init__(self, model, metrics):
        self.model, self.metrics = model, metrics
        self.optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    def step(self, image, mask):
        scores = self.model(image)
        values = self.metrics.update_all(scores, mask)
        loss = binary_cross_entropy_with_logits(scores, mask.float())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return values

    @torch.no_grad()
    def share(self, image, mask):
        return (self.model(image) > 0).float().mean().item() / mask.float().mean().item()

    def epoch(self, data):
        history = [self.step(image, mask) for image, mask in data]
        return {name: sum(values[name] for values in history) / len(history) for name in history[0]}
