from ratings import BackgroundBatches
from train import main


class ClosingBatches(BackgroundBatches):
    last = None

    def __iter__(self):
        if self.last is not None:
            self.last.close()
        self.last = super().__iter__()
        return self.last


if __name__ == "__main__":
    main(ClosingBatches)
