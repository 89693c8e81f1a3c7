from framework import FoldTrainer
from train import main


class DetachingTrainer(FoldTrainer):
    def fit(self):
        super().fit()
        for callback in self.callbacks:
            callback.trainer = None
        self.callbacks = []


if __name__ == "__main__":
    main(DetachingTrainer)
