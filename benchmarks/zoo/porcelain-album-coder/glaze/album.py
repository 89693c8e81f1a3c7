import torch


class Album:
    def __init__(self, pages=6, rows=16, seed=1):
        generator = torch.Generator().manual_seed(seed)
        self.pages = [torch.randn(rows, 1024, generator=generator) for _ in range(pages)]

    def __iter__(self):
        return iter(self.pages)
