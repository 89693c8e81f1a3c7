import random

import torch
from masks import BucketMasks
from torch import nn
from torch.nn import functional as F


class Melody(nn.Module):
    def __init__(self, masks, notes=64, width=48):
        super().__init__()
        self.masks = masks
        self.notes = nn.Embedding(notes, width, padding_idx=0)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, notes)

    def forward(self, notes):
        x = self.notes(notes)
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.out(x + F.scaled_dot_product_attention(q, k, v, attn_mask=self.masks[notes.size(1)]))


def tunes(masks, steps, batch=3, seed=6):
    chance = random.Random(seed)
    for _ in range(steps):
        lengths = [chance.randint(20, 239) for _ in range(batch)]
        room = masks.pad(max(lengths) + 1)
        rows = torch.zeros(batch, room, dtype=torch.long)
        for row, length in zip(rows, lengths):
            row[: length + 1] = (torch.arange(length + 1) * 5 + chance.randrange(63)) % 63 + 1
        yield rows


def main(steps=50):
    torch.manual_seed(2)
    masks = BucketMasks()
    model = Melody(masks)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step, rows in enumerate(tunes(masks, steps)):
        loss = F.cross_entropy(model(rows)[:, :-1].flatten(0, 1), rows[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, rows.size(1), f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
