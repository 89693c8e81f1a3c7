import torch
from torch import nn


class ReefClassifier(nn.Module):
    def __init__(self, genera=12, width=256):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU()
        )
        self.classify = nn.Sequential(nn.Flatten(), nn.Linear(32 * 64, width), nn.ReLU(), nn.Linear(width, genera))

    def forward(self, photographs):
        return self.classify(self.features(photographs))


class ReefSurvey:
    """Transects with labelled and unlabelled photographs."""

    def __init__(self, genera=12, seed=91):
        self.generator = torch.Generator().manual_seed(seed)
        self.textures = torch.randn(genera, 3, 32, 32, generator=self.generator)
        self.genera = genera
        self.numbered = 0

    def draw(self, count):
        labels = torch.randint(self.genera, (count,), generator=self.generator)
        noise = torch.randn(count, 3, 32, 32, generator=self.generator)
        return self.textures[labels] + 1.5 * noise, labels

    def unlabelled(self, count):
        photographs, _ = self.draw(count)
        numbers = range(self.numbered, self.numbered + count)
        self.numbered += count
        return photographs, numbers
