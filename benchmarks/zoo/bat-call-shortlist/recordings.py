import torch


class Recordings:
    """Spectrograms of bat calls: sweeps that fall from a kind's own height."""

    def __init__(self, kinds=6, bins=48, frames=64, seed=83):
        self.kinds, self.bins, self.frames = kinds, bins, frames
        self.generator = torch.Generator().manual_seed(seed)
        self.next_clip = 0

    def calls(self, count):
        kind = torch.randint(self.kinds, (count,), generator=self.generator)
        time, height = torch.arange(self.frames), torch.arange(self.bins)
        top = 14 + 5 * kind + torch.randint(-2, 3, (count,), generator=self.generator)
        sweep = top[:, None] * torch.exp(-time / 40.0)
        image = torch.exp(-((height[:, None] - sweep[:, None]) ** 2) / 6)
        return image.unsqueeze(1) + 0.3 * torch.randn(image.shape, generator=self.generator).unsqueeze(1), kind

    def labelled(self, count=24):
        return self.calls(count)

    def unheard(self, count=12):
        clips = range(self.next_clip, self.next_clip + count)
        self.next_clip += count
        return clips, self.calls(count)[0]
