"""Policy with a value head, and the frozen reference."""

from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel


def tiny_gpt(vocab=8000, width=64, layers=2, positions=64):
    config = GPT2Config(
        vocab_size=vocab, n_embd=width, n_layer=layers, n_head=4, n_positions=positions,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=1,
    )
    return GPT2LMHeadModel(config)


class PolicyWithValue(nn.Module):
    def __init__(self, lm):
        super().__init__()
        self.lm = lm
        self.value = nn.Linear(lm.config.n_embd, 1)

    def forward(self, ids):
        hidden = self.lm.transformer(ids).last_hidden_state
        return self.lm.lm_head(hidden), self.value(hidden).squeeze(-1)


def reference_of(lm):
    twin = type(lm)(lm.config)
    twin.load_state_dict(lm.state_dict())
    return twin.eval().requires_grad_(False)
