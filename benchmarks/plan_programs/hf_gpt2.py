"""GPT-2 of the transformers library, small and from a configuration."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
config = GPT2Config(vocab_size=8000, n_positions=128, n_embd=384, n_layer=4, n_head=6)
model = GPT2LMHeadModel(config).to(device)
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
for step in range(20):
    tokens = torch.randint(8000, (10, 128)).to(device)
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
