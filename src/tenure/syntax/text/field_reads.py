"""Whether a program ever asks its objects for a field, as far as the text of its files tells."""

from __future__ import annotations

import ast
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.mentions import mentions
from tenure.syntax.text.scopes import parse

_ALL_AT_ONCE = ("asdict", "astuple", "vars(", "fields(", "__dict__", "__getattr", "getattr(", "attrgetter", "pickle")
"""With these an object's fields are read without their names; `getattr` by a name that is made up."""


@lru_cache(maxsize=4096)
def may_read_field(source: SourceFile, name: str) -> bool:
    """Whether an expression of the file has the value of some `x.name`, a text or a pattern is that name, or fields are
    read all at once; True where the file cannot be parsed."""
    if any(mentions(source, word) for word in _ALL_AT_ONCE):
        return True
    if not mentions(source, name):
        return False
    try:
        parse(source)
    except SourceError:
        return True
    loads = any(each.attr == name and isinstance(each.ctx, ast.Load) for each in nodes_of(source, ast.Attribute))
    texts = any(each.value == name for each in nodes_of(source, ast.Constant))
    return loads or texts or any(nodes_of(source, ast.MatchClass))
