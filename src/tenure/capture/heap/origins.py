"""Whose file is it: the user's own, an installed package's, or Tenure's."""

from __future__ import annotations

import functools
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tenure.capture.system.host import file_of_main

OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep  # noqa: PTH100, PTH120
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep  # noqa: PTH100, PTH120


@functools.lru_cache(maxsize=4096)
def is_library_file(path: str) -> bool:
    """True for the standard library, installed packages and frozen or built-in modules; False for the user's tree."""
    if not path or path.startswith("<frozen"):
        return True
    parts = path.replace("\\", "/").split("/")
    if "site-packages" in parts or "dist-packages" in parts:
        return True
    if path.startswith((_STANDARD_LIBRARY, OWN_FOLDER)):
        return True
    return _is_below_packages(path) or _is_written_by_a_library(path, parts)


def _is_below_packages(path: str) -> bool:
    """Whether one of the folders that Python imports from has the file and was filled by an installer (`--target`).

    The program's own folder, and the one it was started in, are the user's whatever else was put there.
    """
    own = {"", *folders_of_the_program()}
    folders = (folder.rstrip(os.sep) for folder in sys.path if isinstance(folder, str) and folder not in own)
    return any(path.startswith(folder + os.sep) and _has_installed_packages(folder) for folder in folders if folder)


def _is_written_by_a_library(path: str, parts: list[str]) -> bool:
    """Code that a library writes into a temporary folder and runs: torch's compiler below `torchinductor_USER`,
    torch-geometric in files that go by the module they belong to, `torch_geometric.nn.conv.gin_conv_....py`. A file of
    such a name in the program's own folder is the user's."""
    if str(Path(path).parent) in folders_of_the_program():
        return False
    package, dot, rest = parts[-1].removesuffix(".py").partition(".")
    owner = getattr(sys.modules.get(package), "__file__", None) if dot and rest else None
    by_module = isinstance(owner, str) and is_library_file(owner)
    return by_module or any(part.startswith("torchinductor_") for part in parts[:-1])


def folders_of_the_program() -> set[str]:
    """The folder it works in and its script's, as far as they can be told: a program may remove where it works."""
    script = file_of_main()
    found = set()
    with suppress(OSError):
        found.add(str(Path.cwd()))
    with suppress(OSError):
        found.update([str(Path(script).resolve().parent)] if script else ())
    return found


@functools.lru_cache(maxsize=256)
def _has_installed_packages(folder: str) -> bool:
    """Whether an installer left its records there."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".dist-info") for entry in entries)
    except OSError:
        return False


def is_called_from(ends: tuple[str, ...], most: int) -> bool:
    """Whether one of the `most` innermost frames, from the one that called our caller on, is of a file that ends so."""
    frame: Any = sys._getframe(2)
    for _ in range(most):
        if frame is None:
            return False
        if frame.f_code.co_filename.endswith(ends):
            return True
        frame = frame.f_back
    return False


def is_own_file(path: str) -> bool:
    """True for Tenure's own modules, but not for the programs it ships to show itself."""
    return path.startswith(OWN_FOLDER) and not path.startswith(OWN_FOLDER + "demos" + os.sep)
