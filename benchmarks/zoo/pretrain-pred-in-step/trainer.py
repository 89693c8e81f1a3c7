from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class JobConfig:
    steps: int = 40
    batch: int = 4
    length: int = 64
    lr: float = 3e-3
    max_norm: float = 1.0
    log_freq: int = 10


@contextmanager
def train_context():
    with torch.enable_grad():
        yield


def cross_entropy_loss(pred, labels):
    return F.cross_entropy(pred.flatten(0, 1).float(), labels.flatten(0, 1))


class Trainer:
    def __init__(self, config, model, batches, loss_fn=cross_entropy_loss):
        self.config, self.model, self.loss_fn = config, model, loss_fn
        self.batches = iter(batches)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
        self.step = 0

    def forward_backward_step(self, input_ids, labels):
        with train_context():
            pred = self.model(input_ids)
            loss = self.loss_fn(pred, labels)
            loss.backward()
        return loss.detach()

    def train_step(self):
        self.optimizer.zero_grad()
        loss = self.forward_backward_step(*next(self.batches))
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.max_norm)
        self.optimizer.step()
        return loss.item(), norm.item()

    def train(self):
        while self.step < self.config.steps:
            self.step += 1
            loss, norm = self.train_step()
            if self.step % self.config.log_freq == 0:
                print(f"step: {self.step:3d}  loss: {loss:.4f}  grad_norm: {norm:.3f}")
