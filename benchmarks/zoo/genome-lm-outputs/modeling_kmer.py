from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass
class CausalOutput:
    logits: torch.Tensor
    gate_entropy: torch.Tensor


class GatedMixer(nn.Module):
    def __init__(self, width, experts=3):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))

    def forward(self, hidden):
        x = self.norm(hidden)
        past = x.cumsum(1) / torch.arange(1, x.size(1) + 1)[:, None]
        weights = self.gate(x).softmax(-1)
        mixed = sum(weights[..., i, None] * functional.gelu(expert(past)) for i, expert in enumerate(self.experts))
        return hidden + mixed, -(weights * weights.clamp_min(1e-6).log()).sum(-1).mean()


class KmerForCausalLM(nn.Module):
    def __init__(self, vocabulary=4096, width=40, depth=3):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.mixers = nn.ModuleList(GatedMixer(width) for _ in range(depth))
        self.lm_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, input_ids):
        hidden, entropies = self.embed(input_ids), []
        for mixer in self.mixers:
            hidden, entropy = mixer(hidden)
            entropies.append(entropy)
        return CausalOutput(logits=self.lm_head(hidden), gate_entropy=torch.stack(entropies).mean())
