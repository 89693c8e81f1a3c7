from board import Board
from train import main


class Numbers(Board):
    def row(self, fold, auc, fitted):
        return {"fold": fold, "auc": auc, "epochs": fitted.epochs_done}


if __name__ == "__main__":
    main(Numbers())
