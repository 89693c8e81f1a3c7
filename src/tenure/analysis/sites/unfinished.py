"""What only the interpreter's own stack holds, by its statement: the container that a running comprehension builds, and
the `itertools.cycle` that a loop runs over, which keeps all that it has given."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeGuard

from tenure.errors import SourceError
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import RUNNING, HoldingReference, Suspect
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.name_uses import function_around, spans
from tenure.syntax.text.scopes import MODULE, dotted, parse
from tenure.syntax.text.tree_walks import walk

_BUILDERS: dict[str, tuple[type[ast.expr], ...]] = {
    "list": (ast.ListComp, ast.GeneratorExp),
    "dict": (ast.DictComp,),
    "set": (ast.SetComp, ast.GeneratorExp),
    "tuple": (ast.GeneratorExp,),
}
_CYCLE = "itertools.cycle"
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)


def named_by_what_builds_it(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect with the variable (or function) that its container is built for, where the innermost comprehension
    of its kind that was running is known; any other suspect as it is."""
    kinds = _BUILDERS.get(suspect.holder.container_type, ())
    running = suspect.facts.get(RUNNING, ()) if suspect.holder.kind == "unknown" else ()
    assert isinstance(running, tuple)
    for file, line, function in running:
        source = sources.get(file)
        statement = next(_building(source, line, kinds), None) if source is not None else None
        if source is None or statement is None:
            continue
        scope = function.partition(".<locals>.<")[0]
        name = _bound_by(source, statement)
        holder = replace(suspect.holder, kind="local", name=name, expression=f"{name}[*]", element=True,
                         scope_file=file, scope_function=scope, scope_line=statement.lineno,
                         sites=(SourceLocation(file, statement.lineno, scope),))  # fmt: skip
        root = f"what `{name}` is made of while {scope} runs ({posixpath.basename(file)}:{statement.lineno})"
        return replace(suspect, holder=holder, cut=(holder,), holder_is_yours=source.origin == "yours",
                       path_text=(root, *suspect.path_text[1:]))  # fmt: skip
    return suspect


def named_by_its_cycle(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect with the one call of `itertools.cycle` in the program, where its path goes through such an iterator
    and no name has that; any other suspect as it is."""
    through = any(_CYCLE in (hop.source_type, hop.target_type) for hop in suspect.path)
    if suspect.holder.kind != "unknown" or not through:
        return suspect
    yours = (source for source in sources.values() if source.origin == "yours" and "cycle" in source.text)
    found = [(source, call) for source in yours for call in nodes_in(source) if _makes_cycle(call)]
    around = [each for each in walk(parse(found[0][0])) if _is_around(each, found[0][1])] if len(found) == 1 else []
    if not around:
        return suspect
    (source, call), statement = found[0], around[-1]
    name = _bound_by(source, statement) if isinstance(statement, ast.Assign) else called_name(call)
    function = function_around(parse(source), [call.lineno])
    site = SourceLocation(source.path, call.lineno, getattr(function, "name", MODULE))
    holder = HoldingReference("local", name, f"{name}[*]", scope_file=source.path, element=True, sites=(site,),
                              container_type="list", inside=_CYCLE)  # fmt: skip
    return replace(suspect, holder=holder, cut=(holder,), holder_is_yours=True)


def _makes_cycle(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and dotted(node.func) in ("cycle", _CYCLE)


def _is_around(node: ast.AST, call: ast.Call) -> TypeGuard[ast.stmt]:
    return isinstance(node, (*_SIMPLE, ast.For)) and spans(node, [call.lineno]) and call in walk(node)


def _building(source: SourceFile, line: int, kinds: tuple[type[ast.expr], ...]) -> Iterator[ast.stmt]:
    """The statement whose comprehension of one of these kinds goes over `line`."""
    try:
        tree = parse(source)
    except SourceError:
        return
    for statement in walk(tree):
        if isinstance(statement, _SIMPLE) and spans(statement, [line]):
            for node in walk(statement):
                if isinstance(node, kinds) and node.lineno <= line <= (node.end_lineno or node.lineno):
                    yield statement


def bound_at(source: SourceFile, line: int) -> str:
    """What the innermost statement at a line binds, or the function that gives it back; "" where none stands there."""
    around = [each for each in nodes_in(source) if isinstance(each, _SIMPLE) and spans(each, [line])]
    return _bound_by(source, around[-1]) if around else ""


def _bound_by(source: SourceFile, statement: ast.stmt) -> str:
    """What the statement binds, of several names the first, or the function that gives it back."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    parts = [part for target in targets for part in getattr(target, "elts", [target])]
    names = [name for part in parts if isinstance(part, ast.expr) and (name := dotted(part))]
    around = function_around(parse(source), [statement.lineno])
    return names[0].rpartition(".")[2].removesuffix("[]") if names else getattr(around, "name", "")
