from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional


@dataclass(frozen=True)
class Settings:
    width: int
    lr: float
    dropout: float


class HardnessNet(nn.Module):
    """Composition fractions in, hardness and its log-variance out."""

    def __init__(self, elements, settings):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(elements, settings.width),
            nn.SiLU(),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.width, settings.width),
            nn.SiLU(),
            nn.Linear(settings.width, 2),
        )

    def forward(self, fractions):
        return self.layers(fractions).unbind(-1)


@dataclass
class Trial:
    number: int
    settings: Settings
    elements: int = 24
    history: list = field(default_factory=list)

    def __post_init__(self):
        self.net = HardnessNet(self.elements, self.settings)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=self.settings.lr)

    def describe(self):
        norm = sum(float(p.detach().norm()) for p in self.net.parameters())
        return {"trial": self.number, "history": self.history, "norm": norm}

    def step(self, fractions, hardness):
        mean, log_variance = self.net(fractions)
        loss = functional.gaussian_nll_loss(mean, hardness, log_variance.clamp(-6, 6).exp())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.history.append(loss.item())

    @property
    def score(self):
        return sum(self.history[-3:]) / 3
