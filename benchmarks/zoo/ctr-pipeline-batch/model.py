import torch
from torch import nn


class DeepCross(nn.Module):
    def __init__(self, dense=512, fields=6, buckets=500, dim=16, width=384):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(buckets, dim) for _ in range(fields))
        self.bottom = nn.Linear(dense, width)
        self.over = nn.Sequential(
            nn.Linear(width + fields * dim, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, 1),
        )

    def embed(self, ids):
        return torch.cat([table(column) for table, column in zip(self.tables, ids.unbind(1), strict=True)], 1)

    def forward(self, batch):
        dense = torch.nn.functional.silu(self.bottom(torch.log1p(batch["dense"])))
        return self.over(torch.cat([dense, self.embed(batch["ids"])], 1)).squeeze(1)
