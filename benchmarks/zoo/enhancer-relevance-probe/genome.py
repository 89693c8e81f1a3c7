import torch
from torch.nn import functional

MOTIF = torch.tensor([0, 2, 0, 3, 0, 0, 1, 2])  # AGATAACG


class Regions:
    """Made-up accessible regions: the positive ones carry a motif near their middle."""

    def __init__(self, length=480, batch=32, seed=71):
        self.length, self.batch = length, batch
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self):
        bases = torch.randint(4, (self.batch, self.length), generator=self.generator)
        labels = torch.randint(2, (self.batch,), generator=self.generator)
        places = torch.randint(self.length // 2 - 30, self.length // 2 + 30, (self.batch,), generator=self.generator)
        for row in labels.nonzero().flatten().tolist():
            start = int(places[row])
            bases[row, start : start + len(MOTIF)] = MOTIF
        return functional.one_hot(bases, 4).float().transpose(1, 2).contiguous(), labels.float()
