"""Log-mel clips of many speakers."""

import torch


class ClipSource:
    def __init__(self, seed, speakers=40, mels=48, frames=160):
        self.gen = torch.Generator().manual_seed(seed)
        self.speakers, self.mels, self.frames = speakers, mels, frames
        self.timbre = torch.randn(speakers, mels, 1, generator=self.gen)

    def draw(self, count):
        who = torch.randint(self.speakers, (count,), generator=self.gen)
        noise = torch.randn(count, self.mels, self.frames, generator=self.gen)
        return noise.add_(self.timbre[who]), who
