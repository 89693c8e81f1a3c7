from outcome import Missed
from tracker import Tracker
from train import main


class TidyTracker(Tracker):
    def settle(self, number, outcome):
        if isinstance(outcome, Missed):
            outcome.reason.__traceback__ = None
        super().settle(number, outcome)


if __name__ == "__main__":
    main(TidyTracker)
