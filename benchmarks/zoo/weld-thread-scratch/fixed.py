import torch
from imaging import radon
from train import main


def sinogram(seed, angles=48, size=192):
    g = torch.Generator().manual_seed(seed)
    image = torch.zeros(1, 1, size, size)
    defect = seed % 2
    for _ in range(1 + 3 * defect):
        r, c = torch.randint(20, size - 40, (2,), generator=g).tolist()
        image[..., r : r + 14, c : c + 14] += 1
    return radon(image, torch.linspace(0, 3.1, angles)).sum(-1)[:, 0], defect


if __name__ == "__main__":
    main(sinogram)
