from operator import itemgetter


class Board:
    """The table of a cross-validation."""

    def __init__(self):
        self.rows = []

    def row(self, fold, auc, fitted):
        return {"fold": fold, "auc": auc, "epochs": fitted.epochs_done, "score": fitted.score}

    def add(self, fold, auc, fitted):
        self.rows.append(self.row(fold, auc, fitted))

    def show(self):
        for row in sorted(self.rows, key=itemgetter("auc"), reverse=True):
            print(f"fold {row['fold']:2d}  auc {row['auc']:.3f}  epochs {row['epochs']}")
