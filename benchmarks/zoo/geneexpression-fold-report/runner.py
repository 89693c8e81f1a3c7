from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass(frozen=True)
class Recipe:
    width: int = 256
    lr: float = 1e-3
    epochs: int = 7
    decay: float = 1e-2


def network(genes, width):
    return nn.Sequential(nn.Linear(genes, width), nn.GELU(), nn.Dropout(0.3), nn.Linear(width, 1), nn.Flatten(0))


def describe(model, accuracy):
    norm = sum(weight.square().sum() for weight in model.parameters()).sqrt().item()
    used = (model[0].weight.abs().amax(0) > 0.044).sum().item()
    return f"accuracy {accuracy:.3f}  norm {norm:.2f}  genes {used}"


class FoldRunner:
    def __init__(self, cohort, recipe, report):
        self.cohort, self.recipe, self.report = cohort, recipe, report
        self.model = None

    def run(self, fold):
        train, test = self.cohort.split(fold)
        self.model = network(self.cohort.levels.size(1), self.recipe.width)
        self.fit(*train)
        self.note(f"fold {fold}", self.model, self.accuracy(*test))

    def note(self, title, model, accuracy):
        self.report.add(title, lambda: describe(model, accuracy))

    def fit(self, levels, outcome):
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.recipe.lr, weight_decay=self.recipe.decay)
        self.model.train()
        for _ in range(self.recipe.epochs):
            optimizer.zero_grad()
            functional.binary_cross_entropy_with_logits(self.model(levels), outcome).backward()
            optimizer.step()
        optimizer.zero_grad()

    @torch.no_grad()
    def accuracy(self, levels, outcome):
        self.model.eval()
        return ((self.model(levels) > 0) == (outcome > 0)).float().mean().item()
