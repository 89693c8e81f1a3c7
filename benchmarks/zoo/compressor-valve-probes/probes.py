"""Look at the energy inside a network while it works."""

from __future__ import annotations

from typing import Callable

import torch
from torch import nn

Reducer = Callable[[torch.Tensor], torch.Tensor]


def energy(activation: torch.Tensor) -> torch.Tensor:
    return activation.detach().square()


class Probe:
    """What one layer last did, reduced."""

    def __init__(self, name: str, reducer: Reducer) -> None:
        self.name = name
        self.reducer = reducer
        self.value: torch.Tensor | None = None

    def __call__(self, module: nn.Module, inputs: tuple, output: torch.Tensor) -> None:
        self.value = self.reducer(output)

    def attach(self, module: nn.Module) -> Probe:
        module.register_forward_hook(self)
        return self

    def close(self) -> None:
        self.value = None


class Probes:
    """`with Probes(model, "gates", "mixer") as probes:` and afterwards ask for a summary."""

    def __init__(self, model: nn.Module, *names: str, reducer: Reducer = energy, probe: type[Probe] = Probe) -> None:
        self.targets = {name: model.get_submodule(name) for name in names}
        self.make = probe
        self.reducer = reducer
        self.probes: dict[str, Probe] = {}

    def __enter__(self) -> Probes:
        self.probes = {name: self.make(name, self.reducer).attach(module) for name, module in self.targets.items()}
        return self

    def __exit__(self, *exception: object) -> None:
        for probe in self.probes.values():
            probe.close()

    def summary(self) -> dict[str, float]:
        return {name: probe.value.mean().item() for name, probe in self.probes.items()}
