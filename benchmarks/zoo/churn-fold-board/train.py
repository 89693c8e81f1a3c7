import torch
from board import Board
from estimator import Estimator, auc


def customers(n=1600, columns=40):
    g = torch.Generator().manual_seed(77)
    x = torch.randn(n, columns, generator=g)
    return x, ((x[:, 0] - x[:, 1] * x[:, 2] + 0.5 * torch.randn(n, generator=g)) > 0).float()


def folds(n, k):
    parts = torch.randperm(n, generator=torch.Generator().manual_seed(1)).chunk(k)
    for i, held in enumerate(parts):
        yield torch.cat([p for j, p in enumerate(parts) if j != i]), held


def run_fold(x, y, train, held):
    fitted = Estimator(x.shape[1]).fit(x[train], y[train])
    return auc(fitted.score(x[held]), y[held]), fitted


def main(board=None, k=8):
    torch.manual_seed(5)
    board = board or Board()
    x, y = customers()
    for fold, (train, held) in enumerate(folds(len(x), k)):
        board.add(fold, *run_fold(x, y, train, held))
    board.show()


if __name__ == "__main__":
    main()
