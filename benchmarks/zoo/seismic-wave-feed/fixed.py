from feed import WaveFeed
from train import main


class LeanFeed(WaveFeed):
    def stage(self):
        record = next(self.source, None)
        self.ready = None if record is None else self.prepare(record)


if __name__ == "__main__":
    main(LeanFeed)
