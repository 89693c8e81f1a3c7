from probe import RelevanceProbe
from train import main


class EmptiedProbe(RelevanceProbe):
    def collect(self, labels):
        super().collect(labels)
        self.answers.clear()


if __name__ == "__main__":
    main(EmptiedProbe)
