import torch


class Cohort:
    """Expression levels of patients with one outcome each, cut into folds."""

    def __init__(self, patients=240, genes=600, folds=6, seed=13):
        generator = torch.Generator().manual_seed(seed)
        self.levels = torch.randn(patients, genes, generator=generator)
        weights = torch.randn(genes, generator=generator) * (torch.rand(genes, generator=generator) < 0.05)
        self.outcome = (self.levels @ weights > 0).float()
        self.part = torch.randperm(patients, generator=generator) % folds
        self.folds = folds

    def split(self, fold):
        held_out = self.part == fold
        return (self.levels[~held_out], self.outcome[~held_out]), (self.levels[held_out], self.outcome[held_out])
