from rotary import RotaryTable, rotate
from torch import nn
from torch.nn import functional as F


class WindowReader(nn.Module):
    """Reads a long document window by window; each window attends to itself at its true positions."""

    def __init__(self, vocab=128, width=64, table=RotaryTable):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.rotary = table(width)
        self.out = nn.Linear(width, vocab)

    def forward(self, tokens, offset):
        x = self.embed(tokens)
        q, k, v = self.qkv(x).chunk(3, -1)
        table = self.rotary(offset, tokens.size(1))
        x = x + F.scaled_dot_product_attention(rotate(q, table), rotate(k, table), v, is_causal=True)
        return self.out(x)


def windows(document, size, stride):
    for offset in range(0, document.size(1) - size, stride):
        yield offset, document[:, offset : offset + size], document[:, offset + 1 : offset + size + 1]
