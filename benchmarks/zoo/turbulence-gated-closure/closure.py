import torch
from ops import GatedFlux
from torch import nn


class FluxBlock(nn.Module):
    operator = GatedFlux

    def __init__(self, cells: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(cells)
        self.mix = nn.Linear(cells, 2 * cells)
        self.project = nn.Linear(cells, cells)

    def forward(self, fields: torch.Tensor) -> torch.Tensor:
        value, logits = self.mix(self.norm(fields)).chunk(2, dim=-1)
        return fields + self.project(self.operator.apply(value, logits))


class SubgridClosure(nn.Module):
    """Sub-grid stresses from the resolved velocity along one line of cells."""

    def __init__(self, cells: int = 128, depth: int = 3) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(FluxBlock(cells) for _ in range(depth))
        self.head = nn.Linear(cells, cells)

    def forward(self, velocity: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            velocity = block(velocity)
        return self.head(velocity)
