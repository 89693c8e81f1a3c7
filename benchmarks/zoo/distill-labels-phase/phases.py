from dataclasses import dataclass
from collections.abc import Callable

import torch
from torch.nn import functional


@dataclass(frozen=True)
class Phase:
    name: str
    steps: int
    loss: Callable
    lr: float


def soft(trainer, x, y, temperature=2.0):
    """Follows the teacher's shares."""
    with torch.no_grad():
        wanted = (trainer.teacher(x) / temperature).softmax(-1)
    found = (trainer.student(x) / temperature).log_softmax(-1)
    return functional.kl_div(found, wanted, reduction="batchmean") * temperature**2


def hard(trainer, x, y):
    """Follows the labels."""
    return functional.cross_entropy(trainer.student(x), y)


PLAN = (Phase("distil", 12, soft, 3e-3), Phase("labels", 36, hard, 1e-3))


class PhasedTrainer:
    def __init__(self, student, load_teacher, plan=PLAN):
        self.student, self.plan = student, plan
        self.teacher = load_teacher()
        self.optimizer = torch.optim.Adam(student.parameters())

    def begin(self, phase):
        for group in self.optimizer.param_groups:
            group["lr"] = phase.lr

    def step(self, phase, x, y):
        loss = phase.loss(self, x, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self, batches):
        for phase in self.plan:
            self.begin(phase)
            for number in range(phase.steps):
                loss = self.step(phase, *next(batches))
                if number % 11 == 0:
                    print(f"{phase.name} {number:2d} {loss:.4f}")
