"""What is known of a program that could not be planned: what it had when it ended, and what follows by arithmetic."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownOptimizer:
    """An optimizer's class and the bytes of its state: `was_there`, or else by arithmetic of what the class keeps for
    each parameter; None where neither is known."""

    of_class: str
    state_bytes: int | None
    was_there: bool


@dataclass(frozen=True)
class Known:
    """Bytes as the process had them at its end, each storage once.

    `trained_bytes` are of parameters that want a gradient: their gradients take as much. `saved_bytes` were kept by
    graphs that were still there, beside parameters, buffers and states: of a forward without its backward; None where
    there were none, or where they could not be read.
    """

    parameter_bytes: int
    trained_bytes: int
    buffer_bytes: int
    optimizers: tuple[KnownOptimizer, ...]
    saved_bytes: int | None

    @property
    def state_bytes(self) -> int | None:
        """Of all optimizers; None where one is not known."""
        sizes = [each.state_bytes for each in self.optimizers]
        return None if None in sizes else sum(size or 0 for size in sizes)
