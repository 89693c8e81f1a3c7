import torch
import torch.nn.functional as F
from journal import EpochJournal
from surgery import assign, flatten, project_conflicts
from torch import nn


class FacadeParser(nn.Module):
    """Shared convolutions; heads for window mask, storey height and material."""

    def __init__(self, width=12, materials=5):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU()
        )
        self.heads = nn.ModuleDict(
            {"mask": nn.Conv2d(width, 1, 1), "height": nn.Conv2d(width, 1, 1), "material": nn.Linear(width, materials)}
        )

    def forward(self, image):
        features = self.trunk(image)
        return {
            "mask": self.heads["mask"](features),
            "height": self.heads["height"](features).mean((1, 2, 3)),
            "material": self.heads["material"](features.mean((2, 3))),
        }


CRITERIA = {"mask": F.binary_cross_entropy_with_logits, "height": F.smooth_l1_loss, "material": F.cross_entropy}


class FacadeTask:
    """Training logic, called by the loop through its hooks."""

    automatic_optimization = False

    def __init__(self, network, journal_class=EpochJournal):
        self.network = network
        self.journal_class = journal_class
        self.optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)

    def on_epoch_start(self, epoch):
        self.journal = self.journal_class(epoch)

    def training_step(self, batch):
        outputs = self.network(batch["image"])
        losses = {task: criterion(outputs[task], batch[task]) for task, criterion in CRITERIA.items()}
        shared = list(self.network.trunk.parameters())
        by_task = []
        for task, loss in losses.items():
            own = list(self.network.heads[task].parameters())
            gradients = torch.autograd.grad(loss, shared + own, retain_graph=True)
            by_task.append(flatten(gradients[: len(shared)]))
            for parameter, gradient in zip(own, gradients[len(shared) :]):
                parameter.grad = gradient
        direction, conflicts = project_conflicts(by_task)
        assign(shared, direction)
        self.optimizer.step()
        self.journal.conflicts += conflicts
        self.journal.note(**losses)

    def on_epoch_end(self):
        figures = {task: f"{mean:.3f}±{std:.3f}" for task, (mean, std) in self.journal.spread().items()}
        print(f"epoch {self.journal.epoch}: {figures}, {self.journal.conflicts} conflicts")
