import torch
from torch import nn
import torch.nn.functional as F

from hardest import Hardest


class BoxNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 22 * 22, width))
        self.box = nn.Linear(width, 4)

    def forward(self, crops):
        return self.box(torch.relu(self.body(crops)))


def crops(count, batch=4, size=48, seed=231):
    gen = torch.Generator().manual_seed(seed)
    for _ in range(count):
        corner = torch.randint(2, 20, (batch, 2), generator=gen)
        side = torch.randint(8, 24, (batch, 2), generator=gen)
        rows = torch.arange(size)
        inside = (rows >= corner[..., None]) & (rows < (corner + side)[..., None])
        picture = (inside[:, 0, :, None] & inside[:, 1, None, :]).float()
        noisy = picture[:, None] + 0.5 * torch.randn(batch, 1, size, size, generator=gen)
        yield noisy, torch.cat([corner, corner + side], 1) / size


def main(steps=50):
    torch.manual_seed(230)
    net, hardest = BoxNet(), Hardest()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    for pictures, boxes in crops(steps):
        losses = F.smooth_l1_loss(net(pictures), boxes, reduction="none").mean(1)
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        hardest.offer(pictures, losses)
    print([f"{loss:.3f}@{number}" for loss, number, _ in hardest])


if __name__ == "__main__":
    main()
