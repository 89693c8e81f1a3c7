import torch
from losses import HardestPairs, MarginLoss
from torch import nn


class Embedder(nn.Module):
    def __init__(self, inputs=64, width=96, outputs=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.PReLU(), nn.Linear(width, outputs))

    def forward(self, x):
        return nn.functional.normalize(self.body(x), dim=-1)


def faces(batch, people=12, inputs=64, seed=17):
    generator = torch.Generator().manual_seed(seed)
    means = torch.randn(people, inputs, generator=generator)
    while True:
        labels = torch.randint(people, (batch,), generator=generator)
        yield means[labels] + torch.randn(batch, inputs, generator=generator), labels


def main(steps=40):
    torch.manual_seed(3)
    model, criterion = Embedder(), MarginLoss(HardestPairs())
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step, (x, labels) in zip(range(steps), faces(batch=144)):
        loss = criterion(model(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            print(step + 1, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
