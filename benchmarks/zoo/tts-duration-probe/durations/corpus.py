import torch


def sentences(count, batch=24, length=20, features=56, seed=17):
    gen = torch.Generator().manual_seed(seed)
    kinds = torch.randn(40, features, generator=gen)
    for _ in range(count):
        ids = torch.randint(40, (batch, length), generator=gen)
        phonemes = kinds[ids] + 0.1 * torch.randn(batch, length, features, generator=gen)
        yield phonemes, (ids % 7).float() / 3 + torch.rand(batch, length, generator=gen)
