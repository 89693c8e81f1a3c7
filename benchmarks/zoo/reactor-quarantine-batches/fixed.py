import traceback

from quarantine import Quarantine
from train import main


class PaperQuarantine(Quarantine):
    def admit(self, why, trace):
        super().admit(why, traceback.extract_tb(trace)[-1])

    def where(self, case):
        last = self.cases[case][1]
        return f"{last.name}:{last.lineno}"


if __name__ == "__main__":
    main(PaperQuarantine)
