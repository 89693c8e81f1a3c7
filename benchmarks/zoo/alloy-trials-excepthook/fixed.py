import sys

from crash import CrashReports
from train import main


class OneTrialAtATime(CrashReports):
    def guard(self, describe):
        self.previous = sys.excepthook
        return super().guard(describe)

    def release(self):
        sys.excepthook = self.previous


if __name__ == "__main__":
    main(OneTrialAtATime)
