from __future__ import annotations

import torch
import torch.nn.functional as F
from reservoir import EchoReservoir
from torch import Tensor


class CarriesState:
    """Mixin: state of the reservoir from one stretch of the day to the next."""

    _state: Tensor | None = None
    lines: int

    @property
    def state(self) -> Tensor:
        if self._state is None:
            self._state = torch.zeros(self.lines, self.network.readout.in_features)
        return self._state

    @state.setter
    def state(self, value: Tensor) -> None:
        self._state = value


class PassengerFlow(CarriesState):
    def __init__(self, lines: int) -> None:
        self.lines = lines
        self.network = EchoReservoir()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.network.parameters(), lr=2e-3)

    def training_step(self, taps: Tensor) -> Tensor:
        logits, self.state = self.network(taps[:, :-1], self.state)
        return F.cross_entropy(logits.flatten(0, 1), taps[:, 1:].flatten())
