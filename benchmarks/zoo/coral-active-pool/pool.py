"""Unlabelled reef photographs waiting for an expert, most informative first."""

import heapq
import itertools
from dataclasses import dataclass, field

import torch


@dataclass(order=True)
class Candidate:
    priority: float
    number: int
    photograph: int = field(compare=False)
    guess: int = field(compare=False)


class CandidatePool:
    def __init__(self, capacity=4096):
        self.capacity = capacity
        self._heap = []
        self._ticket = itertools.count()

    def __len__(self):
        return len(self._heap)

    def offer(self, priority, photograph, guess):
        candidate = Candidate(priority, next(self._ticket), photograph, guess)
        if len(self._heap) < self.capacity:
            heapq.heappush(self._heap, candidate)
        else:
            heapq.heappushpop(self._heap, candidate)

    def best(self, count):
        """The photographs to label next."""
        return [candidate.photograph for candidate in heapq.nlargest(count, self._heap)]


def margin(probabilities):
    """One minus the lead of the likeliest class over the second."""
    top = probabilities.topk(2, dim=-1).values
    return 1 - (top[:, 0] - top[:, 1])
