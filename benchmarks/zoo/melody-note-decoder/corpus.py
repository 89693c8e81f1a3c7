import torch

NOTES = 640  # pitch and duration together


def phrases(batch=8, length=64, seed=3):
    """Endless random walks up and down a scale, as token sequences."""
    g = torch.Generator().manual_seed(seed)
    while True:
        start = torch.randint(NOTES, (batch, 1), generator=g)
        steps = torch.randint(-3, 4, (batch, length), generator=g).cumsum(1)
        walk = (start + steps).remainder(NOTES)
        yield walk[:, :-1], walk[:, 1:]
