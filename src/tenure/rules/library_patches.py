"""Leaks of libraries that we have a patch for, from `known_leaks.toml`: offered, never applied unasked.

A patch is a few edits of one file's text, so that it fits every release in which these lines are the same.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenure.model.finding import Finding, Remedy
from tenure.model.source import SourceFile
from tenure.rules.known_leaks import FILE, read_tables, version_of

KNOWN = "known:"
"""How `--with` names one of these patches."""


@dataclass(frozen=True)
class LibraryPatch:
    """One entry; the file says what each key means. `edits` are pairs of text before and after."""

    id: str
    title: str
    issues: tuple[str, ...]
    package: str
    first: str
    fixed: str
    file: str
    edits: tuple[tuple[str, str], ...]
    source: str


@functools.cache
def library_patches(file: Path = FILE) -> tuple[LibraryPatch, ...]:
    """All entries, in the file's order. Raises TypeError for one with other keys."""
    return tuple(_read(entry) for entry in read_tables(file).get("patch", []))


def is_of(patch: LibraryPatch, version: str) -> bool:
    """Whether a release of the patch's package has the leak."""
    return version_of(patch.first) <= version_of(version) < version_of(patch.fixed)


def patched(patch: LibraryPatch, text: str) -> str | None:
    """The text of the patch's file with its edits made; None where a place of them is not there, or more than once."""
    for before, after in patch.edits:
        if text.count(before) != 1:
            return None
        text = text.replace(before, after)
    return text


def describe_library_patches(installed: Mapping[str, str], patches: Iterable[LibraryPatch] | None = None) -> list[str]:
    """The leaks of installed packages, by name and version, each with its issue and how to run under the patch."""
    known = library_patches() if patches is None else patches
    return [
        f"{each.package} {version}: {each.title} ({_short(each)}); mended in {each.fixed}; {_offer(each)}"
        for each in known
        if (version := installed.get(each.package)) is not None and is_of(each, version)
    ]


def with_library_patch(finding: Finding, sources: Mapping[str, SourceFile]) -> Finding:
    """The finding, with the patch that is known of the library's file that it names as the first remedy, where the
    recorded text of that file is one that the patch fits."""
    files = dict.fromkeys((finding.holder.file, *(each.file for each in finding.cut)))
    found = [each for each in library_patches() if any(_fits(each, sources.get(file or "")) for file in files)]
    said = tuple(
        Remedy(f"a patch of {each.package} before {each.fixed} is known ({_short(each)}): {_offer(each)}")
        for each in found
    )
    return dataclasses.replace(finding, remedies=(*said, *finding.remedies)) if said else finding


def _fits(patch: LibraryPatch, source: SourceFile | None) -> bool:
    if source is None or not source.path.replace("\\", "/").endswith("/" + patch.file):
        return False
    return patched(patch, source.text) is not None


def _offer(patch: LibraryPatch) -> str:
    return f"tenure run --with {KNOWN}{patch.id} -- COMMAND"


def _short(patch: LibraryPatch) -> str:
    """`accelerate#3391` for the address of an issue or a pull request."""
    match = re.search(r"github\.com/[^/]+/([^/]+)/(?:issues|pull)/(\d+)", patch.issues[0])
    return f"{match[1]}#{match[2]}" if match else patch.issues[0]


def _read(entry: dict[str, Any]) -> LibraryPatch:
    edits = tuple((each["before"], each["after"]) for each in entry["edits"])
    return LibraryPatch(**entry | {"issues": tuple(entry["issues"]), "edits": edits})
