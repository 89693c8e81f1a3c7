from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F


class Decoder(nn.Module):
    def __init__(self, vocab=160, width=96):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.key, self.value, self.query = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, vocab)

    def forward(self, tokens, past=None):
        x = self.embed(tokens)
        k, v = self.key(x), self.value(x)
        if past is not None:
            k, v = torch.cat([past[0], k], 1), torch.cat([past[1], v], 1)
        x = x + F.scaled_dot_product_attention(self.query(x), k, v)
        return self.out(x[:, -1]), (k, v)


@dataclass
class Session:
    turns: int = 0
    past: tuple | None = None
    reply: list = field(default_factory=list)


class ChatEngine(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.sessions = {}

    def session(self, ident):
        return self.sessions.setdefault(ident, Session())

    @torch.inference_mode()
    def forward(self, ident, prompt, new_tokens=6):
        session = self.session(ident)
        session.turns += 1
        scores, session.past = self.model(prompt, session.past)
        session.reply.clear()
        for _ in range(new_tokens):
            token = scores.argmax(-1, keepdim=True)
            session.reply.append(token.item())
            scores, session.past = self.model(token, session.past)
        return list(session.reply)

    def close(self, ident):
        """Marks the talk as over; a client that returns may ask for its last reply."""
        session = self.session(ident)
        session.turns = -1
        return len(session.reply)
