import threading

import torch

scratch = threading.local()


def radon(image, angles):
    """Sums along rotated rows: a cheap sinogram."""
    theta = torch.stack([
        torch.stack([angles.cos(), -angles.sin(), torch.zeros_like(angles)], 1),
        torch.stack([angles.sin(), angles.cos(), torch.zeros_like(angles)], 1),
    ], 1)
    grid = torch.nn.functional.affine_grid(theta, (len(angles), 1, *image.shape[-2:]), align_corners=False)
    turned = torch.nn.functional.grid_sample(image.expand(len(angles), 1, -1, -1), grid, align_corners=False)
    return turned


def sinogram(seed, angles=48, size=192):
    g = torch.Generator().manual_seed(seed)
    image = torch.zeros(1, 1, size, size)
    defect = seed % 2
    for _ in range(1 + 3 * defect):
        r, c = torch.randint(20, size - 40, (2,), generator=g).tolist()
        image[..., r : r + 14, c : c + 14] += 1
    scratch.turned = radon(image, torch.linspace(0, 3.1, angles))
    return scratch.turned.sum(-1)[:, 0], defect
