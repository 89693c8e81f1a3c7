"""BERT of the transformers library for sequences of many lengths, with hidden words, frozen embeddings."""

import random

import torch
from transformers import BertConfig, BertForMaskedLM

torch.manual_seed(0)
draw = random.Random(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
config = BertConfig(
    vocab_size=8000, hidden_size=384, num_hidden_layers=4, num_attention_heads=6, intermediate_size=1536
)
model = BertForMaskedLM(config).to(device)
model.train()
model.bert.embeddings.requires_grad_(False)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=5e-5)
for step in range(20):
    lengths = torch.tensor([draw.randint(48, 128) for _ in range(11)] + [128])
    attention_mask = (torch.arange(128) < lengths[:, None]).long()
    tokens = torch.randint(8000, (12, 128))
    labels = torch.where(torch.rand(12, 128) < 0.15, tokens, -100)
    batch = {"input_ids": tokens, "attention_mask": attention_mask, "labels": labels}
    batch = {name: each.to(device) for name, each in batch.items()}
    optimizer.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
