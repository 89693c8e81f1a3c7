import torch
from torch import nn
from torch.nn import functional as F


class PackedLanguageModel(nn.Module):
    def __init__(self, packer, vocab=90, width=48, longest=128):
        super().__init__()
        self.packer = packer
        self.tokens = nn.Embedding(vocab, width)
        self.places = nn.Embedding(longest, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, vocab)

    def forward(self, sequences):
        plan = self.packer.plan(sequences)
        x = self.tokens(torch.cat(sequences)) + self.places(plan.positions)
        q, k, v = self.qkv(x).chunk(3, -1)
        x = x + F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=plan.allowed)[0]
        return self.out(x), plan


def next_token_loss(model, sequences):
    logits, plan = model(sequences)
    last = torch.zeros(len(logits), dtype=torch.bool)
    last[plan.starts[1:] - 1] = last[-1] = True
    targets = torch.cat(sequences).roll(-1).masked_fill(last, -100)
    return F.cross_entropy(logits, targets)
