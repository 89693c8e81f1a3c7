import torch


def clauses(batch=12, length=48, words=6000, seed=8):
    generator = torch.Generator().manual_seed(seed)
    while True:
        kinds = torch.randint(6, (batch,), generator=generator)
        tokens = (torch.rand(batch, length, generator=generator).square() * (words - 600)).long()
        tokens[:, ::4] += 100 * kinds[:, None]
        yield tokens, kinds
