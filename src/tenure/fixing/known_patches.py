"""Patches that we know of installed libraries, as edited texts for a run: `--with known:accelerate-3391`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from tenure.errors import PatchError
from tenure.fixing.overlay import why_no_python
from tenure.rules.library_patches import KNOWN, LibraryPatch, is_of, library_patches, patched


def read_known_texts(name: str, patches: Sequence[LibraryPatch] | None = None) -> dict[Path, bytes]:
    """The edited text of the file that a known patch changes, by its path where the package is installed here.

    Raises PatchError, in one line, where there is no such patch, or the installed package is another than it is for.
    """
    known = library_patches() if patches is None else patches
    patch = next((each for each in known if f"{KNOWN}{each.id}" == name), None)
    if patch is None:
        raise PatchError(f"{name} is no patch that is known; there are: {', '.join(KNOWN + each.id for each in known)}")
    path = _find_file(patch, name)
    data = path.read_bytes()
    text = patched(patch, data.decode("utf-8", "surrogateescape").replace("\r\n", "\n"))
    if text is None:
        raise PatchError(f"{name} does not fit {path}: the lines that it changes are not there as it expects them")
    edited = text.encode("utf-8", "surrogateescape")
    if why := why_no_python(edited, str(path)):
        raise PatchError(f"{name} makes {path.name} something that is no Python: {why}")
    return {path: edited}


def installed_versions(patches: Sequence[LibraryPatch] | None = None) -> Mapping[str, str]:
    """Of the packages that a patch is known of, those that are installed here, with their version."""
    found = {}
    for package in dict.fromkeys(each.package for each in (library_patches() if patches is None else patches)):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _find_file(patch: LibraryPatch, name: str) -> Path:
    try:
        distribution = metadata.distribution(patch.package)
    except metadata.PackageNotFoundError:
        raise PatchError(f"{name} is for {patch.package}, which is not installed here") from None
    if not is_of(patch, distribution.version):
        there = f"{patch.package} {distribution.version} is installed"
        raise PatchError(f"{name} is for {patch.package} {patch.first} and later, before {patch.fixed}; {there}")
    path = Path(str(distribution.locate_file(patch.file)))
    if not path.is_file():
        raise PatchError(f"{name} changes {path}, which is not there")
    return path.absolute()
