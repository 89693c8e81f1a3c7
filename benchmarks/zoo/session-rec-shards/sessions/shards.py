"""Reads session shards: page snapshots seen in order, and the item that was opened next."""

from dataclasses import dataclass

import torch


@dataclass
class SessionFrame:
    snapshots: torch.Tensor  # session x page x pixels of the thumbnails shown
    opened: torch.Tensor

    @property
    def nbytes(self):
        return self.snapshots.nbytes + self.opened.nbytes


class ShardSpec:
    def __init__(self, pages=12, thumb=24, items=400, rows=220):
        self.pages = pages
        self.thumb = thumb
        self.items = items
        self.rows = rows

    def assemble(self, shard):
        gen = torch.Generator().manual_seed(shard)
        snapshots = torch.rand(self.rows, self.pages, 3, self.thumb, self.thumb, generator=gen)
        level = snapshots[:, -1].mean(dim=(1, 2, 3)).sub(0.49).mul(self.items * 50)
        return SessionFrame(snapshots, level.long().clamp(0, self.items - 1))

    def check(self, frame):
        if len(frame.snapshots) != len(frame.opened):
            raise ValueError("shard has a ragged frame")
        return frame.nbytes


class ShardReader:
    """Assembles and checks shards as the trainer asks for them."""

    def __init__(self, spec, shards):
        self.spec = spec
        self.shards = list(shards)
        self.bytes_read = 0

    def frames(self):
        for shard in self.shards:
            frame = self.spec.assemble(shard)
            self.bytes_read += self.spec.check(frame)
            yield frame
