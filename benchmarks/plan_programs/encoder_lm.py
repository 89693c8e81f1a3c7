"""Language model of torch's own encoder layers with dropout and a causal mask."""

import math

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
VOCABULARY, WIDTH, LENGTH, BATCH = 10_000, 512, 128, 12


class PositionalEncoding(nn.Module):
    def __init__(self, width, dropout=0.1, longest=512):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(longest).unsqueeze(1)
        rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(longest, width)
        table[:, 0::2] = torch.sin(position * rates)
        table[:, 1::2] = torch.cos(position * rates)
        self.register_buffer("table", table)

    def forward(self, x):
        return self.dropout(x + self.table[: x.shape[1]])


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.position = PositionalEncoding(WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 8, 2048, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        x = self.position(self.embed(tokens) * math.sqrt(WIDTH))
        return self.head(self.encoder(x, mask=mask, is_causal=True))


text = torch.randint(VOCABULARY, (BATCH, 40 * LENGTH))
model = LanguageModel().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
criterion = nn.CrossEntropyLoss()
for step in range(30):
    at = step * LENGTH
    tokens = text[:, at : at + LENGTH].to(device)
    targets = text[:, at + 1 : at + LENGTH + 1].to(device)
    logits = model(tokens)
    loss = criterion(logits.reshape(-1, VOCABULARY), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
