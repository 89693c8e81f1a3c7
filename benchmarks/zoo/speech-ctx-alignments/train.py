import torch
from recipe import Recipe


def batches(count=40):
    generator = torch.Generator().manual_seed(21)
    for _ in range(count):
        yield torch.randn(4, 16, 100, generator=generator)


if __name__ == "__main__":
    torch.manual_seed(21)
    Recipe().epoch(batches())
