from dataclasses import dataclass, field
from operator import attrgetter

import torch


@dataclass(frozen=True)
class Finding:
    scene: str
    place: tuple
    heat: torch.Tensor = field(repr=False, compare=False)

    @property
    def strength(self):
        return self.heat.mean().item()

    @property
    def centre(self):
        row, column = divmod(int(self.heat.argmax()), self.heat.shape[1])
        return self.place[0] * self.heat.shape[0] + row, self.place[1] * self.heat.shape[1] + column


class Catalogue:
    """One small heat map for every scene, strongest first when asked."""

    def __init__(self):
        self._findings = {}

    def collect(self, found):
        self._findings.update((finding.scene, finding) for finding in found)
        return self

    def top(self, number):
        return sorted(self._findings.values(), key=attrgetter("strength"), reverse=True)[:number]

    def __len__(self):
        return len(self._findings)
