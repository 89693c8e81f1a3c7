"""Whose file is it: the user's own, an installed package's, or Tenure's."""

from __future__ import annotations

import functools
import os

OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # noqa: PTH100, PTH120
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep  # noqa: PTH100, PTH120


@functools.lru_cache(maxsize=4096)
def is_library_file(path: str) -> bool:
    """True for the standard library, installed packages and frozen or built-in modules; False for the user's tree."""
    if not path or path.startswith("<frozen"):
        return True
    parts = path.replace("\\", "/").split("/")
    if "site-packages" in parts or "dist-packages" in parts:
        return True
    return path.startswith((_STANDARD_LIBRARY, OWN_FOLDER))


def is_own_file(path: str) -> bool:
    """True for Tenure's own modules, but not for the programs it ships to show itself."""
    return path.startswith(OWN_FOLDER) and not path.startswith(OWN_FOLDER + "demos" + os.sep)
