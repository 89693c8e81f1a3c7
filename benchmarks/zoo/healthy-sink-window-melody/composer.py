import torch
from torch import nn
from torch.nn import functional


class Voice(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm, self.project = nn.LayerNorm(width), nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x, cache, layer):
        batch, length, width = x.shape
        q, k, v = self.project(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        k, v = cache.write(layer, k, v)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        return x + self.out(mixed.transpose(1, 2).flatten(2))


class Composer(nn.Module):
    def __init__(self, notes=130, width=96, heads=6, depth=6):
        super().__init__()
        self.width, self.heads, self.depth = width, heads, depth
        self.embed = nn.Embedding(notes, width)
        self.voices = nn.ModuleList(Voice(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, notes)

    def forward(self, notes, cache):
        x = self.embed(notes)
        for layer, voice in enumerate(self.voices):
            x = voice(x, cache, layer)
        cache.advance(notes.shape[1])
        return self.head(x[:, -1])


@torch.inference_mode()
def improvise(composer, cache, theme, bars):
    logits = composer(theme, cache)
    for _ in range(bars):
        note = torch.multinomial(logits.softmax(-1), 1)
        yield note.flatten().tolist()
        logits = composer(note, cache)
