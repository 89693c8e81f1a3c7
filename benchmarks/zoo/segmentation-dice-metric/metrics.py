import copy

import torch


class Metric:
    """States are declared with `add_state`; lists are extended by `update`, tensors are added to."""

    def __init__(self):
        self._defaults = {}

    def add_state(self, name, default):
        self._defaults[name] = default
        setattr(self, name, copy.deepcopy(default))

    def reset(self):
        for name, default in self._defaults.items():
            setattr(self, name, copy.deepcopy(default))

    def clone(self):
        return copy.deepcopy(self)


class BestDice(Metric):
    """Dice at the threshold that suits the whole episode best."""

    def __init__(self, thresholds=19):
        super().__init__()
        self.thresholds = torch.linspace(0.05, 0.95, thresholds)
        self.add_state("probs", [])
        self.add_state("masks", [])

    def update(self, probs, masks):
        self.probs.append(probs.detach())
        self.masks.append(masks)

    def compute(self):
        probs, masks = torch.cat(self.probs), torch.cat(self.masks).bool()
        scores = []
        for threshold in self.thresholds:
            found = probs > threshold
            scores.append(2 * (found & masks).sum() / (found.sum() + masks.sum()).clamp_min(1))
        return max(scores).item()


class Tracker:
    """One metric per episode, so that the course of the training can be asked for at any time."""

    def __init__(self, base):
        self.base = base
        self.episodes = []

    def increment(self):
        self.episodes.append(self.base.clone())

    @property
    def current(self):
        return self.episodes[-1]

    def update(self, probs, masks):
        self.current.update(probs, masks)

    def curve(self):
        return [metric.compute() for metric in self.episodes]
