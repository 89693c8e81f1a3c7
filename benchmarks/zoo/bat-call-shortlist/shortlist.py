from bisect import insort
from dataclasses import dataclass, field

import torch


@dataclass(order=True)
class Candidate:
    sureness: float
    clip: int
    scores: torch.Tensor = field(compare=False)


class Shortlist:
    """The clips that an ecologist should listen to, the least sure first."""

    def __init__(self):
        self.ranked = []

    def offer(self, clips, scores):
        sure = scores.detach().softmax(-1).amax(-1)
        for clip, sureness, row in zip(clips, sure.tolist(), scores):
            insort(self.ranked, Candidate(sureness, clip, row))

    def best(self, count):
        return [(entry.clip, int(entry.scores.argmax()), round(entry.sureness, 3)) for entry in self.ranked[:count]]
