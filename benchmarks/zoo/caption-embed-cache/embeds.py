import torch
from encoders import tokenize


class TextEmbeddingCache:
    """Prompt embeddings by caption, computed before training starts."""

    def __init__(self, name, encoders, dtype=torch.float32):
        self.name = name
        self.encoders = encoders
        self.dtype = dtype
        self.table = {}

    @torch.no_grad()
    def compute(self, captions):
        for caption in captions:
            if caption not in self.table:
                ids = tokenize(caption)
                parts = [encoder(ids) for encoder in self.encoders]
                self.table[caption] = torch.cat(parts, -1).to(self.dtype)
        return len(self.table)

    def lookup(self, captions):
        return torch.cat([self.table[caption] for caption in captions])
