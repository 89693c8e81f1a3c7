"""What is known of a program that could not be planned, as text and as JSON; analyses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tenure.model.known import Known, KnownOptimizer
from tenure.model.units import format_bytes
from tenure.report.outlook import render_rows

BASIS = (
    "tensors that the process had when it ended, and what follows from them by arithmetic; no step was planned, and "
    "one needs more: activations and what operations make on the way"
)


def render_known(known: Known, *, width: int, ascii_only: bool = False) -> str:
    """What a program had when it ended, as lines of at most `width`."""
    return render_rows(_rows(known), width=width, ascii_only=ascii_only)


def known_as_dict(known: Known | None, error: str, steps: int) -> dict[str, Any]:
    """The same as `tenure plan --json` gives it where there is no plan, with the reason and the steps seen."""
    if known is None:
        return {"format": 1, "error": error, "steps": steps, "known": None}
    found = {**asdict(known), "gradient_bytes": known.trained_bytes, "state_bytes": known.state_bytes, "basis": BASIS}
    return {"format": 1, "error": error, "steps": steps, "known": found}


def _rows(known: Known) -> Iterator[tuple[str, str]]:
    yield "parameters", f"{format_bytes(known.parameter_bytes)}, buffers {format_bytes(known.buffer_bytes)}"
    yield "gradients", f"{format_bytes(known.trained_bytes)}: as much as the parameters that train"
    for number, each in enumerate(known.optimizers):
        yield "" if number else "state", _state(each)
    if known.saved_bytes is not None:
        yield (
            "saved",
            f"{format_bytes(known.saved_bytes)} kept by graphs that were there at the end, by the last forward",
        )
    yield "basis", BASIS


def _state(optimizer: KnownOptimizer) -> str:
    if optimizer.state_bytes is None:
        return f"{optimizer.of_class}: not known before its first step"
    how = "as it was" if optimizer.was_there else "by what its class keeps for each parameter, not made yet"
    return f"{format_bytes(optimizer.state_bytes)} of {optimizer.of_class}, {how}"
