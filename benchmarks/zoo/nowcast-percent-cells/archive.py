import torch


class RadarArchive:
    """Made-up rain: blobs that drift; now and then the radar misses a sweep."""

    def __init__(self, seed, size=40, frames=7, gap_every=13):
        self.size, self.frames, self.gap_every = size, frames, gap_every
        self.generator = torch.Generator().manual_seed(seed)

    def hour(self, batch, frames):
        axis = torch.linspace(-1, 1, self.size)
        start, drift = torch.rand(2, batch, 2, generator=self.generator) - 0.5
        when = torch.linspace(0, 1, frames)[None, :, None]
        centre = start[:, None] + when * drift[:, None]
        y = (axis - centre[..., :1])[..., :, None]
        x = (axis - centre[..., 1:])[..., None, :]
        return torch.exp(-8 * (y**2 + x**2))

    def sequences(self, batch, limit, complete_only=False):
        for number in range(1, limit + 1):
            if number % self.gap_every == 0:
                if complete_only:
                    continue
                yield self.hour(batch, self.frames - 1)
            else:
                yield self.hour(batch, self.frames)
