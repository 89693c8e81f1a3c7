import torch
from ema import EMA
from torch import nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Linear(1, 96)
        self.body = nn.Sequential(nn.Linear(192, 256), nn.SiLU(), nn.Linear(256, 96))

    def forward(self, x, t):
        return self.body(torch.cat([x, self.time(t)], -1))


def main(steps=50):
    torch.manual_seed(5)
    model = Denoiser()
    ema = EMA(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    for step in range(steps):
        x, noise, t = torch.randn(32, 96), torch.randn(32, 96), torch.rand(32, 1)
        predicted = model((1 - t) * x + t * noise, t)
        loss = (predicted - noise).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        ema.update(model)
    with torch.no_grad():
        print("sample", ema.shadow(torch.randn(1, 96), torch.ones(1, 1)).norm().item())


if __name__ == "__main__":
    main()
