from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Metrics:
    log_freq: int = 500
    step: int = 0
    losses_since_last_log: list = field(default_factory=list)

    def after_step(self, loss):
        self.step += 1
        self.losses_since_last_log.append(loss.detach())
        if self.step % self.log_freq == 0:
            self.flush()

    def flush(self):
        values = torch.stack(self.losses_since_last_log)
        print(f"step {self.step} avg {values.mean().item():.4f} max {values.max().item():.4f}")
        self.losses_since_last_log.clear()


class Job:
    def __init__(self, metrics, steps=60):
        self.metrics, self.steps = metrics, steps
        self.model = nn.Sequential(nn.Embedding(300, 48), nn.Flatten(), nn.Linear(48 * 16, 300))
        self.optim = torch.optim.AdamW(self.model.parameters(), lr=3e-4)
        self.generator = torch.Generator().manual_seed(5)

    def next_batch(self):
        tokens = torch.randint(300, (16, 17), generator=self.generator)
        return tokens[:, :16], tokens[:, 16]

    def train_step(self):
        inputs, labels = self.next_batch()
        loss = F.cross_entropy(self.model(inputs), labels)
        loss.backward()
        self.optim.step()
        self.optim.zero_grad()
        return loss

    def run(self):
        for _ in range(self.steps):
            self.metrics.after_step(self.train_step())
