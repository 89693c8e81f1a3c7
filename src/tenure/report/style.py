"""Colour for terminals that want it, and plain ASCII for streams that cannot draw."""

from __future__ import annotations

from dataclasses import dataclass

_CONFIDENCE = {"certain": "31;1", "likely": "33;1", "possible": "36"}
_ASCII = str.maketrans({"└": "`", "─": "-", "│": "|", "·": "-", "…": "...", "×": "x", "≥": ">=", "→": "->", "—": "-"})


@dataclass(frozen=True)
class Style:
    """Marks text by escape codes when `color` is true, else gives it back unchanged."""

    color: bool

    def bold(self, text: str) -> str:
        """What the eye should find first."""
        return self._mark(text, "1")

    def dim(self, text: str) -> str:
        """What the eye may skip."""
        return self._mark(text, "2")

    def confidence(self, text: str, confidence: str) -> str:
        """Red for certain, yellow for likely, cyan for possible."""
        return self._mark(text, _CONFIDENCE[confidence])

    def _mark(self, text: str, code: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self.color and text else text


def plain_ascii(text: str) -> str:
    """The same text in ASCII; letters that have no plain form become their escape."""
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")
