"""Panels of rock art as packed bytes, decoded when they are asked for."""

import zlib

import numpy as np
import torch
from torch.utils.data import Dataset


def packed(number, size=96):
    rng = np.random.default_rng(number)
    strokes = np.cumsum(rng.integers(-1, 2, (size, size)), axis=1) % 256
    return zlib.compress(strokes.astype(np.uint8).tobytes())


class Panels(Dataset):
    def __init__(self, count=64, size=96, crop=64, seed=2):
        self.size, self.crop = size, crop
        self.files = [packed(number, size) for number in range(count)]
        self.rng = np.random.default_rng(seed)
        self.decoded = {}

    def __len__(self):
        return len(self.files)

    def decode(self, index):
        return np.frombuffer(zlib.decompress(self.files[index]), dtype=np.uint8).reshape(self.size, self.size)

    def crop_at(self, index, top, left):
        key = index, top, left
        if key not in self.decoded:
            window = self.decode(index)[top : top + self.crop, left : left + self.crop]
            self.decoded[key] = (window / 255.0).astype(np.float64)
        return self.decoded[key]

    def __getitem__(self, index):
        views = [self.crop_at(index, *self.rng.integers(0, self.size - self.crop, 2)) for _ in range(2)]
        return torch.stack([torch.as_tensor(view, dtype=torch.float32)[None] for view in views])
