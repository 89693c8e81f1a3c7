"""Files that only the interpreter knows: cells of a notebook, what a prompt was given."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\d[0-9a-f]*|\b[0-9a-f]{6,}\b")
_CELL = re.compile(r"<[^<>]+>|.*\b(ipykernel_\d+/\d+\.py)")


def cell_kind(path: str) -> str:
    """What all cells of one session go by: `<ipython-input-#-#>`, `ipykernel_#/#.py`; "" for other files.

    Each run of a cell has a name with other numbers, and so has each session.
    """
    found = _CELL.fullmatch(path)
    return _NUMBER.sub("#", found[1] or path) if found else ""
