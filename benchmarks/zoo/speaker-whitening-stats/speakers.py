import torch


class Voices:
    """Pooled filterbank statistics of many speakers' utterances."""

    def __init__(self, speakers=40, features=160, seed=51):
        self.generator = torch.Generator().manual_seed(seed)
        self.speakers = torch.randn(speakers, features, generator=self.generator)
        self.channel = torch.randn(features, features, generator=self.generator) * 0.08

    def batch(self, size=512):
        who = torch.randint(len(self.speakers), (size,), generator=self.generator)
        noise = torch.randn(size, self.speakers.shape[1], generator=self.generator)
        return self.speakers[who] + noise + noise @ self.channel, who
