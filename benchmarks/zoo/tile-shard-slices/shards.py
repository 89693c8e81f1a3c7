import torch


class Store:
    """Stands for a bucket of aerial shards: packed bands as one flat row of bytes each."""

    def __init__(self, shards=3, tiles=96, bands=4, side=112):
        self.shards, self.shape = shards, (tiles, bands, side, side)

    def read(self, number):
        g = torch.Generator().manual_seed(number)
        count = self.shape[0] * self.shape[1] * self.shape[2] * self.shape[3]
        return torch.randint(0, 4096, (count,), generator=g, dtype=torch.int32)


def unpack(packed, shape):
    """Twelve-bit counts to half precision reflectances."""
    return packed.view(shape).to(torch.float16) / 4095


def tiles(store, batch=8):
    for number in range(store.shards):
        packed = store.read(number)
        reflectance = unpack(packed, store.shape)
        order = torch.randperm(len(reflectance))
        for start in range(0, len(order), batch):
            x = reflectance[order[start : start + batch]].float()
            yield x, (x[:, 3] - x[:, 0]) / (x[:, 3] + x[:, 0] + 0.1)
