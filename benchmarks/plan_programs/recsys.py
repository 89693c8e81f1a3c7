"""Recommender: bags with sparse gradients and SparseAdam, tables with dense gradients and Adam."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
WIDTH, ITEMS, USERS, SMALL, BATCH, HISTORY = 64, 200_000, 150_000, (1000, 5000, 20_000), 4096, 20


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = nn.EmbeddingBag(ITEMS, WIDTH, mode="sum", sparse=True)
        self.user = nn.Embedding(USERS, WIDTH)
        self.small = nn.ModuleList(nn.Embedding(size, WIDTH, padding_idx=0) for size in SMALL)
        self.bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, WIDTH), nn.ReLU())
        pairs = len(SMALL) + 3
        self.top = nn.Sequential(
            nn.Linear(WIDTH + pairs * (pairs - 1) // 2, 512),
            nn.ReLU(),
            nn.Linear(512, 256),
            nn.ReLU(),
            nn.Linear(256, 1),
        )

    def forward(self, numbers, history, offsets, user, small):
        x = self.bottom(numbers)
        rows = [x, self.history(history, offsets), self.user(user)]
        rows += [table(small[:, at]) for at, table in enumerate(self.small)]
        stacked = torch.stack(rows, dim=1)
        products = torch.bmm(stacked, stacked.transpose(1, 2))
        first, second = torch.triu_indices(len(rows), len(rows), offset=1, device=x.device)
        return self.top(torch.cat([x, products[:, first, second]], dim=1)).squeeze(1)


model = Recommender().to(device)
sparse = torch.optim.SparseAdam(model.history.parameters(), lr=1e-3)
dense = torch.optim.Adam([p for name, p in model.named_parameters() if not name.startswith("history")], lr=1e-3)
for step in range(20):
    numbers = torch.randn(BATCH, 13).to(device)
    history = torch.randint(ITEMS, (BATCH * HISTORY,)).to(device)
    offsets = torch.arange(0, BATCH * HISTORY, HISTORY, device=device)
    user = torch.randint(USERS, (BATCH,)).to(device)
    small = torch.stack([torch.randint(size, (BATCH,)) for size in SMALL], dim=1).to(device)
    clicked = torch.randint(2, (BATCH,)).float().to(device)
    loss = F.binary_cross_entropy_with_logits(model(numbers, history, offsets, user, small), clicked)
    sparse.zero_grad()
    dense.zero_grad()
    loss.backward()
    sparse.step()
    dense.step()
