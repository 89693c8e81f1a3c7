from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class LMOutput:
    logits: torch.Tensor
    hidden: torch.Tensor


class SmallLM(nn.Module):
    def __init__(self, vocab=1400, width=72):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens, hidden=None):
        x, hidden = self.rnn(self.embed(tokens), hidden)
        return LMOutput(self.head(x), hidden)


def token_logps(logits, tokens):
    return logits.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)


@torch.no_grad()
def sample(policy, prompts, new_tokens, temperature=1.0):
    tokens, column, hidden = prompts, prompts, None
    for _ in range(new_tokens):
        output = policy(column, hidden)
        hidden = output.hidden
        column = torch.multinomial((output.logits[:, -1] / temperature).softmax(-1), 1)
        tokens = torch.cat([tokens, column], 1)
    return tokens
