import torch
import torch.nn.functional as F

from .blackbox import BlackBox
from .lm import ReplyLM


class Recipe:
    box = BlackBox

    def __init__(self, temperature=0.8):
        self.model = ReplyLM()
        self.temperature = temperature
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-3)

    def loss(self, box, ids):
        logits = box.watch("logits", self.model(ids[:, :-1]))
        return F.cross_entropy(logits.div(self.temperature).flatten(0, 1), ids[:, 1:].flatten())

    def step(self, number, ids):
        with self.box(f"step {number}") as box:
            loss = self.loss(box, ids)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()
