"""Which words stand in a file's text: looked for once per file and word, as long as these are few thousand."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from tenure.model.source import SourceFile


@lru_cache(maxsize=16384)
def mentions(source: SourceFile, word: str) -> bool:
    """Whether a word, or a part of one, stands anywhere in a file, comments included. The first time a pass over it.

    Letters that Python takes for one another in names (`\u00b5` and `\u03bc`) are one here, too.
    """
    return word in source.text or (not word.isascii() and word in unicodedata.normalize("NFKC", source.text))


def spellings(name: str) -> tuple[str, ...]:
    """A name as objects know it and, for private names (`_Trainer__history`), as the source writes it."""
    private = re.fullmatch(r"_[^_]\w*?(__\w+)", name)
    return (name, private[1]) if private else (name,)
