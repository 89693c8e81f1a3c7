import torch


def scans(batch=2, size=16, seed=44):
    """Balls in noise."""
    generator = torch.Generator().manual_seed(seed)
    grid = torch.stack(torch.meshgrid(*[torch.linspace(-1, 1, size)] * 3, indexing="ij"))
    while True:
        centre = torch.rand(batch, 3, 1, 1, 1, generator=generator) - 0.5
        radius = 0.2 + 0.3 * torch.rand(batch, 1, 1, 1, generator=generator)
        inside = (grid - centre).norm(dim=1) < radius
        volume = inside[:, None].float() + 0.7 * torch.randn(batch, 1, size, size, size, generator=generator)
        yield volume, inside.long()
