import torch
from torch import nn


class Segmenter(nn.Module):
    def __init__(self, width, classes=4):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.ReLU(),
        )
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, images):
        return self.head(self.body(images))


def scenes(seed, size=24):
    generator = torch.Generator().manual_seed(seed)
    while True:
        images = torch.rand(4, 3, size, size, generator=generator)
        yield images, (images.sum(1) * 4 / 3).long().clamp(0, 3)


def check_time(step, budget):
    if budget is not None and step >= budget:
        raise KeyboardInterrupt(f"stopped at step {step}")


def fit(model, batches, steps, budget=None):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(steps):
        images, masks = next(batches)
        logits = model(images)
        loss = nn.functional.cross_entropy(logits, masks)
        check_time(step, budget)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, f"{loss.item():.3f}")
