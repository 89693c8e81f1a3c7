import torch
from torch import nn

COLOURS = ["red", "green", "blue", "amber", "violet", "white"]
THINGS = ["kite", "teapot", "lantern", "bicycle", "cactus", "piano", "barn"]
PLACES = ["on a beach", "in fog", "at night", "under snow"]


class WordTokenizer:
    def __init__(self, words, length=8):
        self.numbers = {word: number for number, word in enumerate(sorted(words), 1)}
        self.length = length

    def __call__(self, prompts):
        rows = [[self.numbers[word] for word in prompt.split()][: self.length] for prompt in prompts]
        return torch.tensor([row + [0] * (self.length - len(row)) for row in rows])


class TextEncoder(nn.Module):
    def __init__(self, vocab=64, width=160, depth=3):
        super().__init__()
        self.words = nn.Embedding(vocab, width)
        self.places = nn.Parameter(torch.randn(8, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)

    def forward(self, tokens):
        return self.blocks(self.words(tokens) + self.places)

    @torch.no_grad()
    def embed(self, tokens):
        return self(tokens).mean(1)


def all_prompts():
    return [f"a {colour} {thing} {place}" for colour in COLOURS for thing in THINGS for place in PLACES]
