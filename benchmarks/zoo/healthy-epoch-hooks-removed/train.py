import torch
from units import DeadUnits, tables
from torch import nn


def main(epochs=24, batches=2):
    torch.manual_seed(35)
    generator = torch.Generator().manual_seed(36)
    model = nn.Sequential(nn.Linear(60, 2000), nn.ReLU(), nn.Linear(2000, 100), nn.ReLU(), nn.Linear(100, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    units = DeadUnits(["1", "3"])
    for epoch in range(epochs):
        with units.epoch(model):
            for _ in range(batches):
                x, y = tables(64, generator)
                loss = nn.functional.cross_entropy(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        if epoch % 6 == 0:
            print(epoch, f"{loss.item():.4f}", {name: round(share, 3) for name, share in units.share().items()})


if __name__ == "__main__":
    main()
