import torch
from torch import nn

MOODS = 2600


class PromptEncoder(nn.Module):
    """Turns a row of tag tokens into one vector."""

    def __init__(self, vocabulary=MOODS, width=224, depth=3, heads=4):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.norm(x).mean(1)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.mix = nn.MultiheadAttention(width, heads, batch_first=True)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.first(x)
        x = x + self.mix(y, y, y, need_weights=False)[0]
        return x + self.feed(self.second(x))


class PromptBank:
    """The vectors of all prompts of the collection, asked for by number."""

    def __init__(self, encoder, prompts, chunk=64):
        self.encoder = encoder.eval().requires_grad_(False)
        self.chunk = chunk
        self.vectors = self.embed(prompts)

    @torch.no_grad()
    def embed(self, prompts):
        return torch.cat([self.encoder(part) for part in prompts.split(self.chunk)])

    def __len__(self):
        return len(self.vectors)

    def __getitem__(self, numbers):
        return self.vectors[numbers]
