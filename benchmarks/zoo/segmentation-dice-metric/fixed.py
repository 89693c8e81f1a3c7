from metrics import Tracker
from train import main


class NumberTracker(Tracker):
    started = False

    def increment(self):
        if self.started:
            self.episodes.append(self.base.compute())
        self.base.reset()
        self.started = True

    @property
    def current(self):
        return self.base

    def curve(self):
        return [*self.episodes, self.base.compute()]


if __name__ == "__main__":
    main(NumberTracker)
