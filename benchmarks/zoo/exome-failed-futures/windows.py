import torch
from service import Request
from torch import nn
from torch.nn import functional


class WindowNet(nn.Module):
    """Dilated convolutions over one-hot bases: three site scores a base, and the context they come of."""

    def __init__(self, width=32):
        super().__init__()
        self.stem = nn.Conv1d(4, width, 1)
        self.blocks = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2 * d, dilation=d) for d in (1, 4, 16))
        self.sites = nn.Conv1d(width, 3, 1)

    def forward(self, bases):
        hidden = self.stem(functional.one_hot(bases, 4).float().transpose(1, 2))
        for block in self.blocks:
            hidden = hidden + functional.relu(block(hidden))
        return self.sites(hidden), hidden


def traffic(total, variants=6, length=256, seed=6):
    generator = torch.Generator().manual_seed(seed)
    for number in range(total):
        reference = torch.randint(4, (1, length), generator=generator).repeat(variants, 1)
        alternative = reference.clone()
        edits = 1 if number % 3 == 0 else 24
        for row in alternative:
            row[torch.randperm(length, generator=generator)[:edits]] = torch.randint(4, (edits,), generator=generator)
        yield Request(number, reference, alternative, [f"v{number}.{k}" for k in range(variants)])
