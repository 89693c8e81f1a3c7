"""Which words stand in a file's text: looked for once per file and word, however many functions ask."""

from __future__ import annotations

from functools import lru_cache

from tenure.model.source import SourceFile


@lru_cache(maxsize=512)
def mentions(source: SourceFile, word: str) -> bool:
    """Whether a word, or a part of one, stands anywhere in a file, comments included. The first time a pass over it."""
    return word in source.text
