from module import GrainSegmenter
from train import main


class Clearing(GrainSegmenter):
    def on_validation_epoch_end(self):
        super().on_validation_epoch_end()
        self.collected.clear()


if __name__ == "__main__":
    main(Clearing)
