import torch


def nights(count, batch=10, epochs=84, bands=24, stages=5, seed=23):
    generator = torch.Generator().manual_seed(seed)
    looks = torch.randn(stages, bands, generator=generator)
    for _ in range(count):
        moves = (torch.rand(batch, epochs, generator=generator) < 0.12).long().cumsum(1)
        labels = (moves + torch.randint(stages, (batch, 1), generator=generator)) % stages
        yield looks[labels] + 0.8 * torch.randn(batch, epochs, bands, generator=generator), labels
