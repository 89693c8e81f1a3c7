import torch


def textures(batch=5, size=64, seed=3):
    """Endless clean/noisy pairs of soft stripes."""
    g = torch.Generator().manual_seed(seed)
    grid = torch.linspace(0, 1, size)
    while True:
        freq = torch.rand(batch, 3, 1, 1, generator=g) * 30 + 4
        tilt = torch.rand(batch, 3, 1, 1, generator=g) * 2 - 1
        clean = 0.5 + 0.5 * torch.sin(freq * (grid[:, None] + tilt * grid))
        yield clean, clean + 0.2 * torch.randn(clean.shape, generator=g)
