import torch
import torch.nn.functional as F
from tally import Tally
from torch import nn

reports = []


def pottery(n, g, kinds=6):
    y = torch.randint(kinds, (n,), generator=g)
    rows = torch.linspace(-1, 1, 80)
    shape = torch.cos(rows[None, :, None] * (y[:, None, None] + 1)) > rows[None, None].abs() * 2
    return shape[:, None].float().repeat(1, 3, 1, 1) + 0.7 * torch.randn(n, 3, 80, 80, generator=g), y


def main(epochs=6, per_epoch=10):
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(4)
    net = nn.Sequential(
        nn.Conv2d(3, 12, 5, 3), nn.ReLU(), nn.Conv2d(12, 24, 3, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(6)
    )
    net(torch.zeros(1, 3, 80, 80))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    held = pottery(60, g)
    for _ in range(epochs):
        for _ in range(per_epoch):
            x, y = pottery(24, g)
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        tally = Tally(6)
        with torch.no_grad():
            for x, y in zip(held[0].split(12), held[1].split(12)):
                scores = net(x)
                tally.add(x, scores, y, F.cross_entropy(scores, y, reduction="none"))
        reports.append(str(tally))
    print("\n".join(reports))


if __name__ == "__main__":
    main()
