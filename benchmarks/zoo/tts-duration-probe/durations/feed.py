"""Gives batches, and lets one look at the first of them before the training starts."""

import itertools


class Feed:
    def __init__(self, batches):
        self.batches, self.ahead = itertools.tee(batches)

    def first(self):
        return next(self.ahead)

    def __iter__(self):
        return self.batches
