"""Translation with torch's Transformer: batches padded to their longest sentence, of another length each."""

import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(0)
draw = random.Random(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
WORDS, WIDTH, PAD = 6000, 256, 0


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.source, self.target = (nn.Embedding(WORDS, WIDTH, padding_idx=PAD) for _ in range(2))
        self.places = nn.Embedding(512, WIDTH)
        self.transformer = nn.Transformer(WIDTH, 4, 3, 3, 1024, dropout=0.1, batch_first=True)
        self.head = nn.Linear(WIDTH, WORDS)

    def embed(self, table, tokens):
        return table(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))

    def forward(self, source, target):
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device).isinf()
        hidden = self.transformer(
            self.embed(self.source, source),
            self.embed(self.target, target),
            tgt_mask=causal,
            src_key_padding_mask=source == PAD,
            tgt_key_padding_mask=target == PAD,
            memory_key_padding_mask=source == PAD,
        )
        return self.head(hidden)


def sentences(longest, count=16):
    lengths = [longest, *(draw.randint(longest // 2, longest) for _ in range(count - 1))]
    return pad_sequence([torch.randint(1, WORDS, (length,)) for length in lengths], batch_first=True)


model = Translator().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, betas=(0.9, 0.98))
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
for step in range(20):
    source = sentences(draw.randint(50, 110)).to(device)
    target = sentences(draw.randint(50, 110)).to(device)
    logits = model(source, target[:, :-1])
    loss = criterion(logits.flatten(0, 1), target[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
