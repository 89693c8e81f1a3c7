from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class LengthCurriculum:
    """Sequences get longer until they have their full length."""

    shortest: int = 16
    longest: int = 96
    grow_steps: int = 30

    def at(self, step):
        share = min(1.0, step / self.grow_steps)
        return int(self.shortest + share * (self.longest - self.shortest)) // 8 * 8


def padded_batch(length, batch, vocab, generator):
    tokens = torch.randint(1, vocab, (batch, length + 1), generator=generator)
    ends = torch.randint(length // 2, length + 1, (batch,), generator=generator)
    ends[0] = length
    return tokens.masked_fill(torch.arange(length + 1) > ends.unsqueeze(1), 0)
