"""Whether a variable's value can still be asked for: reads that code may yet run, seen from a line being executed."""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterator, Sequence
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.expressions import called_name, makes_an_object
from tenure.syntax.text.name_uses import stored_in
from tenure.syntax.text.scopes import MODULE, inner_bodies, parse, statements
from tenure.syntax.text.tree_walks import children, walk

_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_HANDING_ON = (ast.Return, ast.Yield)
_INSPECTING = frozenset({"locals", "globals", "vars", "eval", "exec", "dir"})


@lru_cache(maxsize=4096)
def is_read_later(
    source: SourceFile, function: str, name: str, line: int, *, waits: bool = False, called: bool = False
) -> bool:
    """Whether a frame of `function` that executes `line` may yet read the variable, as far as its text tells.

    The statement being executed counts, so do the loop around it, loops around that where their turns do not begin
    by binding the variable anew, functions defined inside, and `locals()` or the like. True wherever that cannot be
    told: source that cannot be parsed, no such function at this line, and for parameters, which are their callers'
    to drop. Of a generator that `waits` there, the loop around the line counts as those around it do: what a turn has
    read before it hands out its result is idle while others work with that. Where the call is what the statement does
    last (`called`), all that it reads itself is read already.
    """
    try:
        scope = _scope(parse(source), function, line)
    except SourceError:
        return True
    if scope is None or (not isinstance(scope, ast.Module) and _is_parameter(scope, name)):
        return True
    around = _around(scope.body, line)
    loops = [node for node in around if isinstance(node, _LOOPS)]
    first = max((node.lineno for node in (loops if loops and not waits else around)), default=line)
    innermost = max(around, key=lambda node: node.lineno, default=None)
    if called and innermost is not None and not loops and not inner_bodies(innermost):
        first = (innermost.end_lineno or first) + 1
    try:
        return any(
            mention < 0 or mention >= first or _comes_again(loops, mention, name) for mention in _reads(scope, name)
        )
    except RecursionError:  # a sum of more than a thousand terms
        return True


def is_handed_on(source: SourceFile, function: str, name: str, line: int) -> bool:
    """Whether the statement at `line`, or one that follows it, returns or yields the variable's own value, alone or in
    a container or object that it builds for that, and none before binds the variable anew.

    Of the same function: without other branches than the one that runs, and without later turns of loops. False
    wherever that cannot be told.
    """
    try:
        scope = _scope(parse(source), function, line)
    except SourceError:
        return False
    for node in _from_here(scope.body, line) if scope is not None else ():
        if any(name in _handed_on(each.value) for each in walk(node) if isinstance(each, _HANDING_ON) and each.value):
            return True
        if name in stored_in(node):
            return False
    return False


def _handed_on(value: ast.expr) -> Iterator[str]:
    """Variables whose own values an expression gives, in containers and objects that it builds, too."""
    if isinstance(value, ast.Name):
        yield value.id
    for part in _built_of(value):
        yield from _handed_on(part)


def _built_of(value: ast.expr) -> Sequence[ast.expr]:
    if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        return value.elts
    if isinstance(value, ast.Dict):
        return value.values
    if isinstance(value, ast.IfExp):
        return value.body, value.orelse
    if isinstance(value, ast.Call) and (makes_an_object(value) or called_name(value) == "dict"):
        return *value.args, *(each.value for each in value.keywords)
    return ()


@lru_cache(maxsize=4096)
def runs_in_loop(source: SourceFile, function: str, line: int) -> bool:
    """Whether a frame of `function` that executes `line` is inside one of its loops; True where that is not known."""
    try:
        scope = _scope(parse(source), function, line)
    except SourceError:
        return True
    return scope is None or any(isinstance(node, _LOOPS) for node in _around(scope.body, line))


@lru_cache(maxsize=4096)
def outlives_turns(source: SourceFile, function: str, name: str, line: int) -> bool:
    """Whether a frame of `function` that executes `line` is inside loops of its own none of whose turns binds the
    variable, which the function bound before; False where that is not known."""
    try:
        scope = _scope(parse(source), function, line)
    except SourceError:
        return False
    if scope is None:
        return False
    around = [node for node in _around(scope.body, line) if isinstance(node, _LOOPS)]
    if not around:
        return False
    outermost = min(around, key=lambda node: node.lineno)
    bound = {part for node in statements(scope.body) if node.lineno < outermost.lineno for part in stored_in(node)}
    return name in bound and name not in stored_in(outermost)


def _around(body: list[ast.stmt], line: int) -> list[ast.stmt]:
    return [node for node in statements(body) if node.lineno <= line <= (node.end_lineno or node.lineno)]


def _from_here(body: Sequence[ast.stmt], line: int) -> Generator[ast.stmt, None, bool]:
    """The innermost statement at the line and those after it, from the innermost body outwards; returns whether one of
    them leaves the body for good."""
    at = next((at for at, node in enumerate(body) if node.lineno <= line <= (node.end_lineno or node.lineno)), None)
    if at is None:
        return False
    inner = [each for each in inner_bodies(body[at]) if each and each[0].lineno <= line]
    if inner and (yield from _from_here(inner[-1], line)):
        return True
    for node in body[at + bool(inner) :]:
        yield node
        if isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            return True
    return False


def _scope(tree: ast.Module, function: str, line: int) -> ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | None:
    if function in ("", MODULE):
        return tree
    around = [
        node
        for node in walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name == function.rpartition(".")[2]
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(around, key=lambda node: node.lineno, default=None)


def _is_parameter(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    return any(isinstance(node, ast.arg) and node.arg == name for node in walk(function.args))


def _comes_again(loops: list[ast.For | ast.AsyncFor | ast.While], mention: int, name: str) -> bool:
    """Whether a next turn of a loop reads on a line before this turn's the value that the variable has now."""
    having = [loop for loop in loops if loop.lineno <= mention]
    return bool(having) and not _binds_first(max(having, key=lambda loop: loop.lineno), name)


def _binds_first(loop: ast.For | ast.AsyncFor | ast.While, name: str) -> bool:
    """Whether each turn binds the variable before anything reads it."""
    if isinstance(loop, (ast.For, ast.AsyncFor)) and _is_bound_by(loop.target, name):
        return True
    heads = [loop.test] if isinstance(loop, ast.While) else []
    for node in (*heads, *_in_turn(loop.body)):
        if isinstance(node, ast.Assign) and any(_is_bound_by(target, name) for target in node.targets):
            return not any(True for _ in _reads(node, name))
        if any(isinstance(each, ast.Name) and each.id == name for each in walk(node)):
            return False
    return False


def _in_turn(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Statements that run one after the other whatever happens: those of a `with` after what it enters."""
    for node in body:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            yield from node.items
            yield from _in_turn(node.body)
        else:
            yield node


def _is_bound_by(target: ast.expr, name: str) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_is_bound_by(each, name) for each in target.elts)
    return isinstance(target, ast.Name) and target.id == name


def _reads(node: ast.AST, name: str, *, later: bool = False) -> Iterator[int]:
    """Lines that read a variable; -1 for what may run at any time, or reads variables without their names."""
    for child in children(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
            if child.id == name:
                yield -1 if later else child.lineno
            elif child.id in _INSPECTING and not later:
                yield -1
        elif isinstance(child, (ast.Global, ast.Nonlocal)) and name in child.names:
            yield -1
        elif isinstance(child, ast.AugAssign) and isinstance(child.target, ast.Name) and child.target.id == name:
            yield -1 if later else child.lineno
        if isinstance(child, ast.GeneratorExp):
            first, *others = child.generators  # what it goes through is read at once
            yield from _reads(ast.Expr(first.iter), name, later=later)
            for part in (child.elt, first.target, *first.ifs, *others):
                yield from _reads(ast.Expr(part), name, later=True)  # type: ignore[arg-type]
        else:
            yield from _reads(child, name, later=later or isinstance(child, _LATER))
