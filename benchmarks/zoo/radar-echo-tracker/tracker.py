from __future__ import annotations

import torch
import torch.nn.functional as F

from echoes import EchoNet, Sky, associate
from outcome import Found, Missed, attempt


class Tracker:
    def __init__(self, gate: float = 0.04) -> None:
        self.sky = Sky()
        self.net = EchoNet()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.gate = gate
        self.tracks = None
        self.missed: dict[int, Missed] = {}

    def learn(self, echoes: torch.Tensor, targets: int = 20) -> torch.Tensor:
        code = F.normalize(self.net(echoes), dim=-1)
        likeness = code @ code[:targets].T / 0.1
        loss = F.cross_entropy(likeness[:targets], torch.arange(targets))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return code.detach()

    def sweep(self, number: int) -> None:
        code = self.learn(self.sky.sweep())
        if self.tracks is not None:
            self.settle(number, attempt(associate, self.tracks, code, self.gate))
        self.tracks = code[:20].clone()

    def settle(self, number: int, outcome: Found | Missed) -> None:
        if isinstance(outcome, Missed):
            self.missed[number] = outcome
