from dataclasses import dataclass, field

import torch


@dataclass
class Stage:
    """Which parts of the net are tuned, how long, and with what."""

    name: str
    parts: tuple
    steps: int
    make: type
    options: dict
    curve: list = field(default_factory=list)


class StageRunner:
    """Every stage gets an optimizer and a schedule of its own; those of the stage before are given up."""

    def __init__(self, net, stages):
        self.net, self.stages = net, stages
        self.optimizer = self.schedule = None

    def begin(self, stage):
        self.net.zero_grad()
        for name, weight in self.net.named_parameters():
            weight.requires_grad_(name.startswith(stage.parts))
        tuned = [weight for weight in self.net.parameters() if weight.requires_grad]
        self.optimizer = stage.make(tuned, **stage.options)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, stage.steps)

    def run(self, batches, loss_of):
        for stage in self.stages:
            self.begin(stage)
            for _ in range(stage.steps):
                loss = loss_of(self.net, *next(batches))
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.schedule.step()
                stage.curve.append((loss.item(), self.schedule.get_last_lr()[0]))
            yield stage
