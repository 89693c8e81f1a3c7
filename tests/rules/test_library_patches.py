"""Patches of libraries fit what they were written for, and are offered there alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fixing_findings import HISTORY
from tenure.model.finding import CutReference
from tenure.model.source import SourceFile
from tenure.rules.known_leaks import version_of
from tenure.rules.library_patches import (
    LibraryPatch,
    describe_library_patches,
    library_patches,
    patched,
    with_library_patch,
)

PATCH = LibraryPatch(
    "kept-7", "the list keeps rows", ("https://github.com/some/kept/pull/7",), "kept", "1.2", "1.4", "kept/rows.py",
    (("rows.append(row)\n", "rows[:] = [row]\n"), ("rows = None\n", "rows = []\n")), "a run",
)  # fmt: skip
TEXT = "rows = None\n\ndef add(row):\n    rows.append(row)\n"
REPORTING = "def _copy_variable(value):\n    if isinstance(value, torch.Tensor):\n        return value.clone()\n"


def test_each_edit_is_made_once_or_none_at_all() -> None:
    assert patched(PATCH, TEXT) == "rows = []\n\ndef add(row):\n    rows[:] = [row]\n"
    assert patched(PATCH, TEXT + TEXT) is None
    assert patched(PATCH, TEXT.replace("rows = None", "rows = ()")) is None


@pytest.mark.parametrize(
    ("version", "told"), [("1.1.9", False), ("1.2", True), ("1.3.7", True), ("1.4.0", False), ("odd", False)]
)
def test_a_leak_is_told_of_the_releases_that_have_it(version: str, told: bool) -> None:
    said = f"kept {version}: the list keeps rows (kept#7); mended in 1.4; tenure run --with known:kept-7 -- COMMAND"

    assert describe_library_patches({"kept": version}, [PATCH]) == [said] * told
    assert describe_library_patches({"other": version}, [PATCH]) == []


def test_a_finding_in_a_file_that_a_patch_fits_is_offered_the_patch_first() -> None:
    path = "/lib/site-packages/pytorch_pfn_extras/reporting.py"
    held = replace(HISTORY, cut=(CutReference("observation", path, 3),))
    newer = REPORTING.replace("clone", "detach")

    told = with_library_patch(held, {path: SourceFile(path, REPORTING, "library")})

    assert [each.summary for each in told.remedies] == [
        "a patch of pytorch-pfn-extras before 0.3 is known (pytorch-pfn-extras#49): "
        "tenure run --with known:pytorch-pfn-extras-49 -- COMMAND"
    ]
    assert with_library_patch(held, {path: SourceFile(path, newer, "library")}) == held
    assert with_library_patch(held, {}) == held


def test_the_entries_that_we_have_are_whole() -> None:
    patches = library_patches()

    assert len({each.id for each in patches}) == len(patches) > 0
    assert [each.id for each in patches if not version_of(each.first) < version_of(each.fixed)] == []
    assert [each.id for each in patches if not (each.edits and each.title and each.source)] == []
    assert [each.id for each in patches if any(before in ("", after) for before, after in each.edits)] == []
    addresses = [issue for each in patches for issue in each.issues]
    assert [address for address in addresses if not address.startswith("https://github.com/")] == []
