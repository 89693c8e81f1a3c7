import torch


def cutouts(count=128, size=32, seed=17):
    """Elliptical blobs with a colour gradient."""
    generator = torch.Generator().manual_seed(seed)
    axis = torch.linspace(-1, 1, size)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    turn = torch.rand(count, 1, 1, generator=generator) * 3.14
    flat = 0.3 + 0.7 * torch.rand(count, 1, 1, generator=generator)
    u, v = x * turn.cos() + y * turn.sin(), (y * turn.cos() - x * turn.sin()) / flat
    light = torch.exp(-(u.square() + v.square()) * 6)
    colour = torch.rand(count, 3, 1, 1, generator=generator)
    return light[:, None] * colour + 0.02 * torch.rand(count, 3, size, size, generator=generator)
