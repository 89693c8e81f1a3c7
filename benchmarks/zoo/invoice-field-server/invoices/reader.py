"""Reads one invoice and gives its fields one after another."""

import asyncio

import torch
from torch import nn


class PageEncoder(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 5, stride=2, padding=2)
        self.body = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, page):
        return self.body(torch.relu(self.stem(page)))


class FieldReader:
    names = ("vendor", "date", "total", "tax", "iban", "terms")

    def __init__(self):
        self.encoder = PageEncoder().eval()
        self.queries = torch.randn(len(self.names), 24)

    async def fields(self, page):
        with torch.no_grad():
            features = self.encoder(page[None, None])[0]
        for name, query in zip(self.names, self.queries):
            heat = torch.einsum("c,chw->hw", query, features)
            row, column = divmod(int(heat.argmax()), heat.shape[1])
            yield name, (row, column)
            await asyncio.sleep(0)
