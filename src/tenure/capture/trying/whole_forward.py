"""A module around a model's own `forward`, for what wraps a whole model that the program goes on to call."""

from __future__ import annotations

from typing import Any

import torch


class WholeForward(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
    """Holds a model and calls the `forward` that it has now; what it has later may call this."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model
        self._forward = model.forward

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the model itself computes."""
        return self._forward(*args, **kwargs)
