from dataclasses import dataclass

import torch


@dataclass
class Phase:
    name: str
    steps: int
    rate: float
    train_backbone: bool


class PhasedTrainer:
    """Short warm-up of everything, then only the head on a backbone that stays as it is."""

    def __init__(self, model, loss_function):
        self.model = model
        self.loss_function = loss_function

    def enter(self, phase):
        self.model.backbone.requires_grad_(phase.train_backbone)
        part = self.model if phase.train_backbone else self.model.head
        return torch.optim.SGD(part.parameters(), lr=phase.rate, momentum=0.9)

    def run(self, phase, batches):
        optimizer = self.enter(phase)
        for number, (inputs, labels) in enumerate(batches):
            if number == phase.steps:
                break
            optimizer.zero_grad()
            loss = self.loss_function(self.model(inputs), labels)
            loss.backward()
            optimizer.step()
            if number % 10 == 0:
                print(f"{phase.name} {number}: {loss.item():.4f}")
