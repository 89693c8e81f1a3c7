"""What was done otherwise in this process than its program says, for the notes of a plan."""

from __future__ import annotations

_NOTES: dict[str, None] = {}


def note_of_run(text: str) -> None:
    """Once, however often it is said."""
    _NOTES.setdefault(text)


def notes_of_run() -> tuple[str, ...]:
    """In the order of their coming."""
    return tuple(_NOTES)
