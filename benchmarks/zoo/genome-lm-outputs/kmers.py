import torch


def reads(batch=4, length=80, kmers=4096, seed=12):
    """Overlapping six-letter words of a random walk through a made-up genome."""
    generator = torch.Generator().manual_seed(seed)
    genome = torch.randint(4, (20000,), generator=generator)
    powers = 4 ** torch.arange(6)
    words = (genome.unfold(0, 6, 1) * powers).sum(1) % kmers
    while True:
        starts = torch.randint(len(words) - length, (batch, 1), generator=generator)
        yield {"input_ids": words[starts + torch.arange(length)]}
