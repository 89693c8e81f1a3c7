import torch
from evaluation import evaluate
from torch import nn


def table(count):
    for _ in range(count):
        x = torch.randn(64, 30)
        yield x, x.roll(1, 1)


def main(evaluate=evaluate, steps=40):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(30, 80), nn.ReLU(), nn.Linear(80, 30))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step, (x, y) in enumerate(table(steps)):
        loss = (model(x) - y).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        error = evaluate(model, table(2))
        if step % 10 == 0:
            print(step, error)


if __name__ == "__main__":
    main()
