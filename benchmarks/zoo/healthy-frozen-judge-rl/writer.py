import torch
from torch import nn


class Writer(nn.Module):
    def __init__(self, vocab=6000, width=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.cell = nn.GRUCell(width, width)
        self.out = nn.Linear(width, vocab)

    def forward(self, tokens):
        h, rows = torch.zeros(len(tokens), self.cell.hidden_size), []
        for t in range(tokens.shape[1]):
            h = self.cell(self.embed(tokens[:, t]), h)
            rows.append(h)
        return self.out(torch.stack(rows, 1))

    @torch.no_grad()
    def write(self, n, length):
        token, h, text = torch.zeros(n, dtype=torch.long), torch.zeros(n, self.cell.hidden_size), []
        for _ in range(length):
            h = self.cell(self.embed(token), h)
            token = torch.distributions.Categorical(logits=self.out(h)).sample()
            text.append(token)
        return torch.stack(text, 1)
