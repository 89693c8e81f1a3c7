"""`--with fix.patch` or `--with known:ID`: a program runs as the patch would make it, and no file is changed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from tenure.capture.writing.folders import SWITCH_VARIABLE
from tenure.errors import UsageError


@contextmanager
def under_patch(patch: str | None) -> Iterator[Path | None]:
    """An overlay with what the patch makes of the files here, until the block ends; None without a patch.

    Says afterwards which of its files nobody has loaded. Raises PatchError before anything runs where it does not fit.
    """
    if patch is None:
        yield None
        return
    from tenure.fixing.known_patches import read_known_texts
    from tenure.fixing.overlay import read_patched_texts, unused_files, write_overlay
    from tenure.report.layout import relative_to_here
    from tenure.rules.library_patches import KNOWN

    if os.environ.get(SWITCH_VARIABLE) == "0":
        raise UsageError("TENURE=0 switches everything off, the patch as well; unset it or leave out --with")
    texts = read_known_texts(patch) if patch.startswith(KNOWN) else read_patched_texts(Path(patch))
    with tempfile.TemporaryDirectory(prefix="tenure-overlay-") as folder:
        overlay = Path(folder)
        write_overlay(overlay, texts)
        yield overlay
        for path in unused_files(overlay):
            click.echo(f"tenure: {patch} changes {relative_to_here(path)}, which this run did not load", err=True)
