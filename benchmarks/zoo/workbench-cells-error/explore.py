import torch


def band_table(x, bands=4):
    return [round(part.std().item(), 2) for part in x.chunk(bands, 1)]


def second_order(x, columns):
    """The strongest products of two wavelengths."""
    centred = x - x.mean(0)
    cube = centred[:, :, None] * centred[:, None, :]
    strength = cube.mean(0).abs()
    return pick(strength, columns)


def pick(strength, columns):
    chosen = torch.tensor(columns)
    weights = torch.ones(len(columns) + 1)
    return (strength[chosen][:, chosen] * weights).sum(1).tolist()
