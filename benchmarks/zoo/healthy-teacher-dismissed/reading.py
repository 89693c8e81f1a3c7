import torch
from torch import nn


class Reader(nn.Module):
    """Sorts short notes; the teacher and the student differ in width only."""

    def __init__(self, width, layers, words=3000, topics=9):
        super().__init__()
        self.embed = nn.EmbeddingBag(words, width)
        body = []
        for _ in range(layers):
            body += [nn.Linear(width, width), nn.LayerNorm(width), nn.GELU()]
        self.body = nn.Sequential(*body)
        self.topic = nn.Linear(width, topics)

    def forward(self, notes):
        return self.topic(self.body(self.embed(notes)))


def notes(count=384, length=16, words=3000, topics=9, seed=47):
    generator = torch.Generator().manual_seed(seed)
    topic = torch.randint(topics, (count,), generator=generator)
    own = topic[:, None] * 300 + torch.randint(300, (count, length), generator=generator)
    common = torch.randint(words, (count, length), generator=generator)
    return torch.where(torch.rand(count, length, generator=generator) < 0.5, own, common), topic
