from dataclasses import dataclass
from typing import Optional

import torch
from torch import nn


@dataclass
class CausalOutput:
    logits: torch.Tensor
    loss: Optional[torch.Tensor] = None


class TinyCausalLM(nn.Module):
    def __init__(self, vocab_size=2000, hidden=48, layers=2):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, hidden)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(hidden, 4, hidden * 2, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(layers)
        )
        self.lm_head = nn.Linear(hidden, vocab_size, bias=False)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.wte(input_ids)
        size = input_ids.size(1)
        causal = torch.full((size, size), float("-inf")).triu(1)
        for block in self.blocks:
            hidden = block(hidden, src_mask=causal, src_key_padding_mask=attention_mask)
        return CausalOutput(logits=self.lm_head(hidden))
