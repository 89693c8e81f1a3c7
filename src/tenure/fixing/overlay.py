"""Overlays: folders with edited texts that a program reads in place of files (see capture/startup/_tenure_overlay)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from tenure.errors import PatchError
from tenure.fixing.patch import FileChange, apply_change, read_patch


def write_overlay(folder: Path, texts: Mapping[Path, bytes]) -> None:
    """Make the folder that TENURE_OVERLAY is to name: a pair of files per original."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (path, text) in enumerate(texts.items()):
        (folder / f"{number}.py").write_bytes(text)
        # The name last: a pair without one is not read.
        (folder / f"{number}.path").write_bytes(os.fsencode(path))


def unused_files(folder: Path) -> list[str]:
    """The originals that no process has loaded since."""
    named = sorted(folder.glob("*.path"))
    return [os.fsdecode(path.read_bytes()) for path in named if not path.with_suffix(".used").exists()]


def read_patched_texts(patch: Path) -> dict[Path, bytes]:
    """The edited text of each file that a patch changes, by the file's path; paths are relative to the working folder.

    Raises PatchError, in one line, where the patch cannot be read or was made for other files than those here.
    """
    try:
        data = patch.read_bytes()
    except OSError as error:
        raise PatchError(f"patch {patch}: {error.strerror or error}") from error
    texts = {}
    for change in read_patch(data, name=str(patch)):
        path = _find_original(change, patch=patch)
        texts[path] = apply_change(path.read_bytes(), change, name=str(patch))
        _check_text(texts[path], path, patch=patch)
    return texts


def _find_original(change: FileChange, *, patch: Path) -> Path:
    path = Path(change.path) if change.package is None else _find_in_package(change, patch=patch)
    archive = next((parent for parent in path.parents if parent.is_file()), None)
    if archive is not None:
        raise PatchError(f"{patch} changes {path}, which lies in the archive {archive}; unpack it to run it changed")
    if not path.is_file():
        raise PatchError(f"{patch} changes {path}, which is not here; start it in the folder that the patch is for")
    if path.suffix not in (".py", ".pyw", ""):
        raise PatchError(f"{patch} changes {path}, which is no Python source; only that can be changed on import")
    return path.absolute()


def _find_in_package(change: FileChange, *, patch: Path) -> Path:
    package = change.package
    assert package is not None
    try:
        distribution = metadata.distribution(package.name)
    except metadata.PackageNotFoundError:
        raise PatchError(f"{patch} changes {package.name} {package.version}, which is not installed here") from None
    if distribution.version != package.version:
        there = f"{package.name} {distribution.version} is installed"
        raise PatchError(f"{patch} changes {change.path} of {package.name} {package.version}, but {there}")
    return Path(str(distribution.locate_file(change.path)))


def _check_text(text: bytes, path: Path, *, patch: Path) -> None:
    why = why_no_python(text, str(path))
    if why:
        raise PatchError(f"{patch} makes {path.name} something that is no Python: {why}")


def why_no_python(text: bytes, name: str) -> str:
    """Why a text cannot be compiled; "" where it can."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the user's own escapes, which Python tells when it runs them
        try:
            compile(text, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return str(error) or type(error).__name__
    return ""
