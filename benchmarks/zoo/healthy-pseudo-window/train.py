import torch
from selftrain import PseudoPool
from torch import nn
from torch.nn.functional import cross_entropy

CENTRES = torch.randn(4, 420, generator=torch.Generator().manual_seed(9))


def sample(n):
    y = torch.randint(4, (n,))
    return CENTRES[y] + 1.5 * torch.randn(n, 420), y


def main(steps=100):
    torch.manual_seed(2)
    net = nn.Sequential(nn.Linear(420, 96), nn.ReLU(), nn.Linear(96, 4))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    pool = PseudoPool()
    for step in range(steps):
        x, y = sample(24)
        loss = cross_entropy(net(x), y)
        if (drawn := pool.draw()) is not None:
            loss = loss + 0.5 * cross_entropy(net(drawn[0]), drawn[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        pool.refresh(net, sample(128)[0])
    print("loss", round(loss.item(), 4), "pool", len(pool.items))


if __name__ == "__main__":
    main()
