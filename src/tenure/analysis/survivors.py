"""Modules that were let go and live on: a binding is gone, the memory is not."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.analysis.groups import View
from tenure.model.suspect import Suspect


def find_survivors(views: Sequence[View]) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor"."""
    return ()
