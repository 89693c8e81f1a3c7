"""Echo state network with learnt station embeddings and a fixed reservoir."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class EchoReservoir(nn.Module):
    def __init__(self, stations: int = 40, embedding: int = 24, units: int = 384, radius: float = 0.9) -> None:
        super().__init__()
        self.embed = nn.Embedding(stations, embedding)
        self.readout = nn.Linear(units, stations)
        recurrent = torch.randn(units, units) / units**0.5
        self.register_buffer("drive", torch.randn(embedding, units) / embedding**0.5)
        self.register_buffer("recurrent", radius * recurrent)

    def forward(self, taps: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Next-station logits at each tick of `taps` (lines, ticks), and the state after the last."""
        logits = []
        for tick in taps.unbind(1):
            state = torch.tanh(self.embed(tick) @ self.drive + state @ self.recurrent)
            logits.append(self.readout(state))
        return torch.stack(logits, 1), state
