import torch


def patches(batch=8, size=128, nuclei=9, seed=44):
    generator = torch.Generator().manual_seed(seed)
    grid = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij"), -1)

    def draw():
        centres = torch.rand(batch, nuclei, 2, generator=generator) * size
        sizes = torch.rand(batch, nuclei, generator=generator) * 8 + 5
        near = torch.full((batch, size, size), float("inf"))
        for k in range(nuclei):
            away = (grid - centres[:, k, None, None]).square().sum(-1).sqrt()
            near = torch.minimum(near, away - sizes[:, k, None, None])
        masks = (near < 0).float().unsqueeze(1)
        stain = masks * 0.7 + 0.4 * torch.randn(batch, 1, size, size, generator=generator)
        return stain, masks

    while True:
        yield draw()
