import random

import torch
from trial import Settings, Trial


def melts(batch, elements, seed):
    generator = torch.Generator().manual_seed(seed)
    mix = torch.rand(elements, generator=generator)
    while True:
        fractions = torch.rand(batch, elements, generator=generator).softmax(-1)
        yield fractions, (fractions @ mix - 0.5) * 10


class RandomSearch:
    def __init__(self, reports, trials, steps, seed=0):
        self.reports, self.trials, self.steps = reports, trials, steps
        self.dice = random.Random(seed)
        self.table = []

    def suggest(self):
        return Settings(
            self.dice.choice([176, 192, 208]), 10 ** self.dice.uniform(-3.2, -2), self.dice.choice([0.0, 0.1])
        )

    def run(self):
        for number in range(self.trials):
            trial = Trial(number, self.suggest())
            guard = self.reports.guard(trial.describe)
            for _, melt in zip(range(self.steps), melts(48, trial.elements, seed=3)):
                trial.step(*melt)
            guard.release()
            self.table.append((trial.score, number, trial.settings))
            yield self.table[-1]

    def best(self):
        return min(self.table, key=lambda row: row[0])
