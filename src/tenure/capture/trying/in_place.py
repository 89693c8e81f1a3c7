"""Activations that write into their input."""

from __future__ import annotations

import torch

from tenure.capture.trying.program import Program


def work_in_place(program: Program) -> None:
    """`inplace=True` for all layers that know the word, but dropouts, whose masks are of the input's type then."""
    for layer in _layers(program):
        layer.inplace = True


def why_not_in_place(program: Program) -> str | None:
    """Why no layer can write into its input; None where one can."""
    return None if _layers(program) else "no layer has an `inplace` that is off"


def _layers(program: Program) -> list[torch.nn.Module]:
    return [
        module
        for _, module in program.modules
        if getattr(module, "inplace", None) is False and not isinstance(module, torch.nn.modules.dropout._DropoutNd)
    ]
