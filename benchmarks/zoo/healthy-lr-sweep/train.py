import torch
from finder import RateFinder
from torch import nn


def stream(seed=0):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(200, 10, generator=g)
    while True:
        x = torch.randn(64, 200, generator=g)
        yield x, (x @ w).argmax(1)


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(200, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    batches = stream()
    finder = RateFinder(net, optimizer, criterion)
    rate = finder.sweep(batches, 40)
    finder.reset()
    print("rate", f"{rate:.4f}", "after", len(finder.history["lr"]), "batches")
    for group in optimizer.param_groups:
        group["lr"] = rate
    for step in range(70):
        x, y = next(batches)
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", round(loss.item(), 4))


if __name__ == "__main__":
    main()
