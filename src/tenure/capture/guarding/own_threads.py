"""Threads of ours inside the program: no census tells of their frames."""

from __future__ import annotations

OWN_THREADS: set[int] = set()
"""Their identities, as `threading.get_ident` gives them, while they run."""
