import torch
from loader import Collator, PreparedLoader
from torch import nn


class Extractor(nn.Module):
    def __init__(self, columns=50, width=200):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(columns, width), nn.Tanh(), nn.Linear(width, columns))

    def forward(self, rows):
        return self.inner(rows)


def split(x, y, folds):
    fold_of = torch.arange(len(x)) % folds
    for fold in range(folds):
        yield x[fold_of != fold], y[fold_of != fold]


def train_fold(x, y, batch=96, loader_type=PreparedLoader):
    extractor = Extractor(x.size(1)).eval().requires_grad_(False)
    loader = loader_type(x, y, batch, Collator(extractor))
    head = nn.Linear(x.size(1), 1)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.05)
    for rows, targets in loader:
        loss = nn.functional.mse_loss(head(rows).squeeze(1), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()
