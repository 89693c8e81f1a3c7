import torch
from neurons import SpikingLayer
from torch import nn


class SpikingNet(nn.Module):
    def __init__(self, inputs=48, width=160, classes=6):
        super().__init__()
        self.layers = nn.Sequential(SpikingLayer(inputs, width), SpikingLayer(width, width))
        self.readout = nn.Linear(width, classes)

    def forward(self, ticks):
        return self.readout(self.layers(ticks).mean(0))


def gestures(batch=32, ticks=8, inputs=48, classes=6):
    generator = torch.Generator().manual_seed(51)
    rates = torch.rand(classes, inputs, generator=generator)
    while True:
        labels = torch.randint(classes, (batch,), generator=generator)
        yield (torch.rand(ticks, batch, inputs, generator=generator) < rates[labels]).float() * 2, labels


def main(steps=40):
    torch.manual_seed(50)
    net = SpikingNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    hits = 0
    for step, (ticks, labels) in zip(range(1, steps + 1), gestures()):
        logits = net(ticks)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits += (logits.argmax(-1) == labels).sum().item()
        if step % 10 == 0:
            print(f"{step:3d} loss {loss.item():.4f} accuracy {hits / 320:.3f}")
            hits = 0


if __name__ == "__main__":
    main()
