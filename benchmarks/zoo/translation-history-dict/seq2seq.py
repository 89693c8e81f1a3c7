import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self, vocab=200, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.core = nn.Transformer(dim, 4, 1, 1, 96, dropout=0.0, batch_first=True)
        self.generate = nn.Linear(dim, vocab)

    def forward(self, source, target):
        hidden = self.core(self.embed(source), self.embed(target))
        return self.generate(hidden)

    def losses(self, source, target):
        logits = self(source, target[:, :-1])
        log_probs = logits.log_softmax(-1)
        nll = nn.functional.nll_loss(log_probs.flatten(0, 1), target[:, 1:].flatten())
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        return {"nll": nll, "entropy": entropy}
