"""Re-identification from camera traps: pull an animal to its prototype, push it from the others'."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from bank import IdentityBank
from encoder import CoatEncoder
from torch import Tensor


@dataclass
class Sighting:
    patches: Tensor
    identities: Tensor


class ReidTrainer:
    def __init__(self, encoder: CoatEncoder, bank: IdentityBank, temperature: float = 8.0) -> None:
        self.encoder = encoder
        self.bank = bank
        self.temperature = temperature
        self.optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-3)

    def loss(self, tokens: Tensor, identities: Tensor) -> Tensor:
        known, prototypes = self.bank.table()
        spread = tokens[:, 1:].var(1).mean()
        matches = identities[:, None] == known
        hit = matches.any(1)
        if not hit.any():
            return 0.01 * spread
        logits = F.normalize(tokens[hit, 0], dim=-1) @ F.normalize(prototypes, dim=-1).T * self.temperature
        return F.cross_entropy(logits, matches[hit].float().argmax(1)) + 0.01 * spread

    def step(self, sighting: Sighting) -> float:
        tokens = self.encoder(sighting.patches)
        loss = self.loss(tokens, sighting.identities)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for identity, animal in zip(sighting.identities.tolist(), tokens.detach()[:, 0]):
            self.bank.record(identity, animal)
        return loss.item()
