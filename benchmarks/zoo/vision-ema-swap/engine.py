from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class State:
    model: nn.Module
    optimizer: torch.optim.Optimizer
    batch: int = 0
    eval_loss: float = float("inf")


class Engine:
    def __init__(self, state, algorithms, eval_interval=1):
        self.state, self.algorithms, self.eval_interval = state, algorithms, eval_interval

    def fire(self, event):
        for algorithm in self.algorithms:
            algorithm.on(event, self.state)

    def train_batch(self, images, labels):
        loss = nn.functional.cross_entropy(self.state.model(images), labels)
        self.state.optimizer.zero_grad()
        loss.backward()
        self.state.optimizer.step()
        self.fire("batch_end")

    def evaluate(self, images, labels):
        self.fire("eval_start")
        with torch.no_grad():
            self.state.eval_loss = nn.functional.cross_entropy(self.state.model(images), labels).item()
        self.fire("eval_end")

    def fit(self, batches, held_out):
        for images, labels in batches:
            self.train_batch(images, labels)
            self.state.batch += 1
            if self.state.batch % self.eval_interval == 0:
                self.evaluate(*held_out)
            if self.state.batch % 10 == 0:
                print(self.state.batch, f"{self.state.eval_loss:.4f}")
