import torch
from probes import ActivationProbe
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.act = nn.Hardswish()
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        return self.head(self.act(self.stem(x)).mean((2, 3)))


def main(probe, steps=30):
    torch.manual_seed(0)
    model = Classifier()
    probe.watch(model.act)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        loss = nn.functional.cross_entropy(model(torch.rand(8, 3, 32, 32)), torch.randint(10, (8,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, loss.item(), probe.mean_scale())


if __name__ == "__main__":
    main(ActivationProbe())
