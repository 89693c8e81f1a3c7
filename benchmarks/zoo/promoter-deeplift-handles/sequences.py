import torch
from torch.nn import functional

MOTIFS = ("TATAAA", "CCAAT", "GGGCGG")


def encode(letters):
    return functional.one_hot(letters, 4).transpose(1, 2).float()


def shuffled(onehot):
    """Each sequence with its bases in another order: what its motifs are compared with."""
    return onehot[:, :, torch.randperm(onehot.shape[2])]


def promoters(size=16, length=160, seed=41):
    generator = torch.Generator().manual_seed(seed)
    motifs = [torch.tensor(["ACGT".index(base) for base in motif]) for motif in MOTIFS]
    while True:
        letters = torch.randint(4, (size, length), generator=generator)
        strength = torch.zeros(size)
        for row in range(size):
            for weight, motif in enumerate(motifs, 1):
                if torch.rand((), generator=generator) < 0.5:
                    start = int(torch.randint(length - len(motif), (), generator=generator))
                    letters[row, start : start + len(motif)] = motif
                    strength[row] += weight
        yield encode(letters), strength
