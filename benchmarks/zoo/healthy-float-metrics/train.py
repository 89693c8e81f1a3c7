from collections import defaultdict

import torch
from torch import nn


class Accuracy:
    def __init__(self):
        self.correct = 0
        self.total = 0
        self.curve = []

    def __call__(self, logits, labels):
        self.correct += (logits.argmax(1) == labels).sum().item()
        self.total += len(labels)
        self.curve.append(self.correct / self.total)


def main(steps=60):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.RMSprop(model.parameters())
    accuracy, log = Accuracy(), defaultdict(list)
    for step in range(steps):
        x = torch.randn(128, 20)
        y = x[:, :3].argmax(1)
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy(logits, y)
        log["loss"].append(float(loss))
        log["grad"].append(sum(p.grad.norm().item() for p in model.parameters()))
    print(accuracy.curve[-1], log["loss"][-1])


if __name__ == "__main__":
    main()
