"""Deep encoder whose layers are computed again in backward."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
WIDTH, LAYERS, VOCABULARY, LENGTH, BATCH = 256, 10, 4000, 256, 8


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.1, batch_first=True, norm_first=True)
            for _ in range(LAYERS)
        )
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return self.head(x)


model = Deep().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(20):
    tokens = torch.randint(VOCABULARY, (BATCH, LENGTH), device=device)
    hidden = torch.rand(BATCH, LENGTH, device=device) < 0.15
    logits = model(tokens.masked_fill(hidden, 0))
    loss = F.cross_entropy(logits[hidden], tokens[hidden])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
