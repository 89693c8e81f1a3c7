import torch
from selection import ModelSelection
from torch import nn


class Regressor(nn.Module):
    def __init__(self, columns=40, width=160):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(columns, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 1)

    def forward(self, rows):
        return self.head(self.trunk(rows)).squeeze(-1)


def make_table(rows, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 40, generator=generator)
    return x, x[:, :5].sum(1) + 0.1 * torch.randn(rows, generator=generator)


def train(selection, steps=40):
    torch.manual_seed(0)
    x, y = make_table(1024, 0)
    x_val, y_val = make_table(256, 1)
    model = Regressor()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        rows = torch.randint(len(x), (64,))
        loss = nn.functional.l1_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            score = nn.functional.l1_loss(model(x_val), y_val).item()
        selection.consider(step, model, score)
    return selection.best()


if __name__ == "__main__":
    best = train(ModelSelection())
    print("parameters of the best model:", sum(p.numel() for p in best.parameters()))
