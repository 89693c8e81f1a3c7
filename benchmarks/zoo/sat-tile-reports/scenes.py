import torch


def scenes(number=40, size=160, bands=4):
    """Smooth fields with one odd square in each."""
    generator = torch.Generator().manual_seed(61)
    for index in range(number):
        rough = torch.rand(1, bands, size // 16, size // 16, generator=generator)
        scene = torch.nn.functional.interpolate(rough, size=(size, size), mode="bilinear")
        row, column = torch.randint(0, size - 12, (2,), generator=generator).tolist()
        scene[..., row : row + 12, column : column + 12] += torch.rand(bands, 12, 12, generator=generator)
        yield f"T{index:03d}", scene
