"""Small models that the tests of this room release."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Encoder(nn.Module):
    """Embeds tokens; keeps the result of its last call."""

    def __init__(self, width: int = 32, depth: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, width)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.register_buffer("scale", torch.ones(width))
        self.last: Tensor | None = None

    def forward(self, tokens: Tensor) -> Tensor:
        hidden = self.embedding(tokens) * self.scale
        for block in self.blocks:
            hidden = block(hidden)
        self.last = hidden
        return hidden.mean(dim=1)


ENCODER_BYTES = (100 * 32 + 2 * (32 * 32 + 32) + 32) * 4
TRAINED_BYTES = ENCODER_BYTES - 32 * 4


class Cache:
    """Embeddings by number, computed by an encoder that it keeps."""

    def __init__(self, encoder: nn.Module) -> None:
        self.encoder: nn.Module | None = encoder
        self.embeddings: dict[int, Tensor] = {}


class Pipeline:
    """Components by name, as attributes and in a dict."""

    def __init__(self, **components: nn.Module) -> None:
        self.components: dict[str, nn.Module] = dict(components)
        self.__dict__.update(components)


def tokens(count: int = 4) -> Tensor:
    return torch.arange(count * 3).reshape(count, 3) % 100


def train_step(module: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    module(tokens()).sum().backward()
    optimizer.step()
