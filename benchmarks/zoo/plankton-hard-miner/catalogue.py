import torch
from torch.utils.data import DataLoader, Dataset, Sampler

SPECIES = 800


class Silhouettes(Dataset):
    """Outlines of plankton described by radial harmonics; a handful of photographs per species."""

    def __init__(self, count=1600, harmonics=40, seed=80):
        generator = torch.Generator().manual_seed(seed)
        centres = torch.randn(SPECIES, harmonics, generator=generator)
        self.labels = torch.arange(count) % SPECIES
        self.shapes = centres[self.labels] + 0.4 * torch.randn(count, harmonics, generator=generator)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return index, self.shapes[index], self.labels[index]


class HardnessSampler(Sampler):
    """Draws what the table finds hard more often."""

    def __init__(self, table, batch, batches):
        self.table, self.batch, self.batches = table, batch, batches

    def __len__(self):
        return self.batches

    def __iter__(self):
        for number in range(self.batches):
            generator = torch.Generator().manual_seed(number)
            yield self.table.draw(self.batch, generator).tolist()


def loader(dataset, table, batch=64, batches=44):
    return DataLoader(dataset, batch_sampler=HardnessSampler(table, batch, batches))
