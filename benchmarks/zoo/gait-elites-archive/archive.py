"""MAP-Elites: for every way to walk, the best walker found so far."""

import random
from dataclasses import dataclass

import torch


@dataclass(slots=True)
class Elite:
    genome: torch.Tensor
    fitness: float
    born: int


class Archive:
    def __init__(self, bins, dice=None):
        self.bins = bins
        self.cells = {}
        self.dice = dice or random.Random(0)

    def place(self, behaviour):
        return tuple((behaviour.clamp(0, 0.999) * self.bins).long().tolist())

    def offer(self, genome, behaviour, fitness, born):
        place = self.place(behaviour)
        if place in self.cells and self.cells[place].fitness >= fitness:
            return False
        self.cells[place] = Elite(genome, fitness, born)
        return True

    def parents(self, count):
        chosen = self.dice.choices(list(self.cells.values()), k=count)
        return torch.stack([elite.genome for elite in chosen])

    @property
    def quality(self):
        return sum(elite.fitness for elite in self.cells.values())
