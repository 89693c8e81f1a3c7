import torch
from folds import split, train_fold


def main(folds=25):
    torch.manual_seed(5)
    x = torch.randn(200, 50)
    y = x[:, :3].sum(1)
    scores = []
    for fold, (rows, targets) in enumerate(split(x, y, folds)):
        scores.append(train_fold(rows, targets))
        if fold % 5 == 0:
            print("fold", fold, f"{scores[-1]:.4f}")
    print("mean", f"{sum(scores) / folds:.4f}")


if __name__ == "__main__":
    main()
