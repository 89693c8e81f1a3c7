from collections import deque

import torch
from torch import nn


class Window:
    def __init__(self, size=12):
        self.losses = deque(maxlen=size)

    def add(self, loss):
        self.losses.append(loss.detach().clone())

    def mean(self):
        return torch.stack(list(self.losses)).mean().item()


def main():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Conv1d(4, 32, 7), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 5))
    optimizer = torch.optim.AdamW(model.parameters())
    window = Window()
    for step in range(60):
        loss = nn.functional.cross_entropy(model(torch.randn(16, 4, 120)), torch.randint(5, (16,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        window.add(loss)
        if step % 12 == 11:
            print(step, window.mean())


if __name__ == "__main__":
    main()
