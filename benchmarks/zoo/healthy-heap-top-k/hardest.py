"""The hardest crops of all that were seen."""

import heapq
import itertools


class Hardest:
    def __init__(self, places=8):
        self.places = places
        self.heap = []
        self.numbers = itertools.count()

    def offer(self, crops, losses):
        for crop, loss in zip(crops, losses.tolist()):
            entry = (loss, next(self.numbers), crop.detach().clone())
            if len(self.heap) < self.places:
                heapq.heappush(self.heap, entry)
            else:
                heapq.heappushpop(self.heap, entry)

    def __iter__(self):
        return iter(sorted(self.heap, reverse=True))
