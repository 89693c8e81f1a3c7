"""Tables that depend on the shape of a terrain tile only."""

import functools
import math
from collections import OrderedDict

import torch


class ShapeCache:
    """Decorator: remembers the results for the shapes used last."""

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, function):
        entries = OrderedDict()

        @functools.wraps(function)
        def cached(*shape):
            if shape in entries:
                entries.move_to_end(shape)
                return entries[shape]
            value = entries[shape] = function(*shape)
            while len(entries) > self.limit:
                entries.popitem(last=False)
            return value

        cached.entries = entries
        return cached


@ShapeCache(limit=8)
def waves(rows, columns, bands=5):
    """Sines and cosines of the position in a tile."""
    y = torch.linspace(0, math.pi, rows)[:, None, None].expand(rows, columns, 1)
    x = torch.linspace(0, math.pi, columns)[None, :, None].expand(rows, columns, 1)
    scale = 2.0 ** torch.arange(bands)
    return torch.cat([(y * scale).sin(), (y * scale).cos(), (x * scale).sin(), (x * scale).cos()], -1)


@functools.lru_cache(maxsize=4)
def border_weight(rows, columns):
    """Errors near the edge count less, for the neighbouring tile shows the same ground."""
    return torch.outer(torch.hann_window(rows, periodic=False), torch.hann_window(columns, periodic=False)) + 0.1
