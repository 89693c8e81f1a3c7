"""What `match` statements bind, written as the assignments that come to the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def matched(node: ast.Match) -> Iterator[ast.Assign]:
    """`value = event[1]` of `match event: case ("loss", value)`, for each name of each case, at its own line."""
    for case in node.cases:
        yield from _bound(case.pattern, node.subject)


def _bound(pattern: ast.pattern, value: ast.expr) -> Iterator[ast.Assign]:
    name = getattr(pattern, "rest" if isinstance(pattern, ast.MatchMapping) else "name", None)
    if name and isinstance(name, str):
        target = ast.copy_location(ast.Name(id=name, ctx=ast.Store()), pattern)
        yield ast.copy_location(ast.Assign(targets=[target], value=value), pattern)
    for inner, part in _parts(pattern, value):
        yield from _bound(inner, ast.copy_location(part, pattern) if part is not value else value)


def _parts(pattern: ast.pattern, value: ast.expr) -> Iterator[tuple[ast.pattern, ast.expr]]:
    """Patterns inside one, each with what it is held against; what its place does not say is the whole."""
    if isinstance(pattern, ast.MatchAs):
        yield from [(pattern.pattern, value)] if pattern.pattern is not None else []
    elif isinstance(pattern, ast.MatchOr):
        yield from ((each, value) for each in pattern.patterns)
    elif isinstance(pattern, ast.MatchSequence):
        starred = any(isinstance(each, ast.MatchStar) for each in pattern.patterns)
        for at, each in enumerate(pattern.patterns):
            yield each, value if starred else _element(value, ast.Constant(at))
    elif isinstance(pattern, ast.MatchMapping):
        yield from ((each, _element(value, key)) for key, each in zip(pattern.keys, pattern.patterns, strict=True))
    elif isinstance(pattern, ast.MatchClass):
        yield from ((each, value) for each in pattern.patterns)
        for name, each in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            yield each, ast.Attribute(value=value, attr=name, ctx=ast.Load())


def _element(value: ast.expr, key: ast.expr) -> ast.Subscript:
    return ast.Subscript(value=value, slice=key, ctx=ast.Load())
