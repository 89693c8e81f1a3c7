from itertools import chain

from durations.feed import Feed
from train import main


class PeekedFeed(Feed):
    def __init__(self, batches):
        self.batches = iter(batches)

    def first(self):
        batch = next(self.batches)
        self.batches = chain([batch], self.batches)
        return batch


if __name__ == "__main__":
    main(PeekedFeed)
