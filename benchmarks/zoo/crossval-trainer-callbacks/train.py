import torch
from framework import FoldTrainer, ResultWriter
from torch import nn


def leave_some_out(x, y, folds):
    for fold in range(folds):
        held = torch.arange(len(x)) % folds == fold
        yield {"train": (x[~held], y[~held]), "valid": (x[held], y[held])}


def main(make_trainer=FoldTrainer, folds=40):
    torch.manual_seed(14)
    x = torch.randn(800, 60)
    y = (x[:, 0] * x[:, 1] > 0).float()
    results = []
    for data in leave_some_out(x, y, folds):
        model = nn.Sequential(nn.Linear(60, 100), nn.ReLU(), nn.Linear(100, 1))
        make_trainer(model, data, [ResultWriter(results)]).fit()
    print("accuracy", sum(results) / len(results))


if __name__ == "__main__":
    main()
