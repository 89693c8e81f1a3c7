"""Selective back-propagation: only the harder share of the batches is worth a backward pass."""

import heapq


class HarderShare:
    """Ranks each batch among those before it."""

    def __init__(self, share=0.5):
        self.share = share
        self.seen = []

    def rank_of(self, loss):
        heapq.heappush(self.seen, loss)
        return max(1, int(len(self.seen) * self.share))

    def wants(self, loss):
        rank = self.rank_of(loss)
        return bool(loss >= heapq.nlargest(rank, self.seen)[-1])
