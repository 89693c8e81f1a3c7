import torch
from nets import convnet
from torch import nn


class Distiller:
    """First imitates the boxes of a large detector, then trains on annotated ones."""

    def __init__(self):
        self.teacher = convnet(80).eval().requires_grad_(False)
        self.student = convnet(12)
        self.optimizer = torch.optim.Adam(self.student.parameters(), lr=1e-3)
        self.step = 0

    def imitation_loss(self, images, boxes):
        with torch.no_grad():
            soft = self.teacher(images)
        return nn.functional.smooth_l1_loss(self.student(images), soft)

    def box_loss(self, images, boxes):
        return nn.functional.smooth_l1_loss(self.student(images), boxes)

    def run_phase(self, name, loss_of, batches, steps):
        for _ in range(steps):
            loss = loss_of(*next(batches))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.step % 10 == 0:
                print(name, self.step, f"{loss.item():.4f}")
            self.step += 1

    def run(self, batches):
        self.run_phase("imitate", self.imitation_loss, batches, 12)
        self.run_phase("boxes", self.box_loss, batches, 36)
