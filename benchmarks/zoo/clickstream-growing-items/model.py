import torch
from torch import nn


class SessionRecommender(nn.Module):
    def __init__(self, items, width=64):
        super().__init__()
        self.items = nn.Embedding(items, width)
        self.reader = nn.GRU(width, width, batch_first=True)

    def forward(self, clicks):
        _, state = self.reader(self.items(clicks))
        return state[-1] @ self.items.weight.T

    @torch.no_grad()
    def enlarge(self, items):
        """A longer item table whose first rows are those of the present one."""
        table = nn.Embedding(items, self.items.embedding_dim)
        table.weight[: self.items.num_embeddings] = self.items.weight
        self.items = table
        return table.weight
