"""Latent data set: each page of tiles is encoded the first time that it is asked for."""

import torch


class TilePages:
    """Pages of synthetic tiles with a smooth field per band."""

    def __init__(self, pages=5, per_page=12, size=64, seed=30):
        self.pages = pages
        self.per_page = per_page
        self.size = size
        self.seed = seed

    def __len__(self):
        return self.pages

    def page(self, number):
        gen = torch.Generator().manual_seed(self.seed + number)
        coarse = torch.randn(self.per_page, 4, 6, 6, generator=gen)
        return torch.nn.functional.interpolate(coarse, size=self.size, mode="bicubic", align_corners=False)


class LatentPages:
    def __init__(self, pages, encode):
        self.pages = pages
        self._encode = encode
        self._stored = {}

    def __len__(self):
        return len(self.pages)

    def __getitem__(self, number):
        if number not in self._stored:
            self._stored[number] = self._encode(self.pages.page(number))
            if self.complete:
                self._encode = None
                print(f"all {len(self)} pages are encoded")
        return self._stored[number]

    @property
    def complete(self):
        return len(self._stored) == len(self.pages)
