import torch
from probe import ActivationProbe
from torch import nn


def main(steps=45):
    torch.manual_seed(12)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    probe = ActivationProbe(model, nn.ReLU)
    for step in range(steps):
        x = torch.randn(96, 64)
        labels = x[:, :6].argmax(1)
        if step % 3 == 0:
            with probe:
                loss = nn.functional.cross_entropy(model(x), labels)
        else:
            loss = nn.functional.cross_entropy(model(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            print(step, f"{loss.item():.4f}", {name: round(shares[-1], 3) for name, shares in probe.shares.items()})


if __name__ == "__main__":
    main()
