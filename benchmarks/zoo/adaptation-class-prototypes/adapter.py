import torch
import torch.nn.functional as F
from torch import nn


class Backbone(nn.Module):
    def __init__(self, dim=64, classes=10):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(80, 160), nn.GELU(), nn.Linear(160, dim), nn.GELU())
        self.head = nn.Linear(dim, classes)

    def forward(self, samples):
        features = self.body(samples)
        return features, self.head(features)


class Domains:
    """A labelled source domain and an unlabelled, shifted target domain."""

    def __init__(self, batch=192, classes=10, seed=19):
        self.batch, self.classes = batch, classes
        self.generator = torch.Generator().manual_seed(seed)
        self.centres = torch.randn(classes, 80, generator=self.generator)

    def draw(self, shift):
        labels = torch.randint(self.classes, (self.batch,), generator=self.generator)
        noise = torch.randn(self.batch, 80, generator=self.generator)
        return self.centres[labels] + noise + shift, labels


class Adapter:
    def __init__(self, backbone, bank, lr=1e-3, target_weight=0.3):
        self.backbone, self.bank, self.target_weight = backbone, bank, target_weight
        self.optimizer = torch.optim.AdamW(backbone.parameters(), lr=lr)

    def losses(self, source, labels, target):
        features, logits = self.backbone(torch.cat([source, target]))
        known, unknown = features.split([len(source), len(target)])
        self.bank.update(known, labels)
        guessed = self.bank.pseudo_labels(unknown)
        yield F.cross_entropy(logits[: len(source)], labels)
        yield self.target_weight * F.cross_entropy(logits[len(source) :], guessed)

    def step(self, domains):
        source, labels = domains.draw(0.0)
        target, _ = domains.draw(0.6)
        loss = sum(self.losses(source, labels, target))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
