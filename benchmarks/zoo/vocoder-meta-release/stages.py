import torch
from clipping import GroupClipper
from torch import nn


class Stages:
    def __init__(self, model, clipper=None):
        self.model = model
        self.clipper = clipper or GroupClipper({"acoustic": 1.0, "postnet": 0.5})
        self.number = 0

    def run(self, batches, steps, lr):
        optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.clipper.watch(self.model)
        for _ in range(steps):
            ids, mel = next(batches)
            rough, fine = self.model(ids)
            loss = nn.functional.l1_loss(rough, mel) + nn.functional.l1_loss(fine, mel)
            optimizer.zero_grad()
            loss.backward()
            norms = self.clipper.clip()
            optimizer.step()
            if self.number % 10 == 0:
                print(self.number, f"{loss.item():.4f}", f"{norms['acoustic']:.3f}")
            self.number += 1
        optimizer.zero_grad()
