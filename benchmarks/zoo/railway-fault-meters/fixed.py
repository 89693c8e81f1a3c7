from meters import ConfusionMeter, Tracked
from train import main


class LatestMeter(ConfusionMeter):
    def enlist(self):
        Tracked.known[:] = [meter for meter in Tracked.known if meter.label != self.label]
        super().enlist()


if __name__ == "__main__":
    main(LatestMeter)
