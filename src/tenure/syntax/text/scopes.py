"""Who encloses a line of source: functions, classes and loops, by the names that Python itself gives them.

Everything is computed once per text and kept; nothing is executed or imported.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakValueDictionary

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.slim_trees import Attribute, Name, slim
from tenure.syntax.text.tree_walks import children, walk

MODULE = "<module>"
COMPREHENSION_NAMES: dict[type[ast.AST], str] = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
LoopNode = ast.For | ast.AsyncFor | ast.While


@dataclass(frozen=True)
class Scope:
    """One function, class, lambda or comprehension; `qualname` is what `__qualname__` says at run time.

    `line` is that of `def`, `class` or `lambda`, `first_line` that of the first decorator. From Python 3.12 on,
    list, set and dict comprehensions have no frame of their own; they are listed all the same.
    """

    kind: str
    """function, class, lambda or comprehension."""
    qualname: str
    line: int
    end_line: int
    first_line: int
    decorators: tuple[str, ...] = ()
    """As written, without arguments: `functools.lru_cache`."""
    global_names: frozenset[str] = frozenset()
    nonlocal_names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Loop:
    """A `for` or `while` statement; the body spans `body_line` to `body_end_line` (without `else`)."""

    line: int
    end_line: int
    body_line: int
    body_end_line: int


UNNAMED_BASE = "?"

_TREES: WeakValueDictionary[SourceFile, ast.Module] = WeakValueDictionary()


def parse(source: SourceFile) -> ast.Module:
    """The syntax tree of a file; the same object for the same text as long as anybody holds it.

    Raises SourceError, in one line, where this Python cannot parse the text.
    """
    tree = _TREES.get(source)
    if tree is None:
        tree = _TREES[source] = _parsed(source)
    return tree


@lru_cache(maxsize=64)
def _parsed(source: SourceFile) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return slim(ast.parse(source.text))
    except SyntaxError as error:
        raise SourceError(f"{source.path}:{error.lineno or 1}: cannot be parsed: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"{source.path}: cannot be parsed: {str(error) or type(error).__name__}") from None


def dotted(node: ast.AST | None) -> str:
    """A name, attribute chain or subscript as text (`self.cache[]`); "" for anything else."""
    if type(node) is Name:
        return node.id
    if type(node) is Attribute and type(node.value) is Name:
        return f"{node.value.id}.{node.attr}"
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append("." + node.attr)
            node = node.value
        elif isinstance(node, ast.Subscript):
            parts.append("[]")
            node = node.value
        elif isinstance(node, ast.Name):
            parts.append(node.id)
            return "".join(reversed(parts))
        else:
            return ""


def decorator_name(node: ast.expr) -> str:
    """`functools.lru_cache` of `@functools.lru_cache(maxsize=None)`."""
    return dotted(node.func if isinstance(node, ast.Call) else node)


def declared_names(body: Sequence[ast.stmt], kind: type[ast.Global] | type[ast.Nonlocal]) -> frozenset[str]:
    """Names that a function's own `global` (or `nonlocal`) statements declare; inner functions not counted."""
    return frozenset(name for node in statements(body) if isinstance(node, kind) for name in node.names)


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of one body in source order, those of `if`, loops, `try`, `with`, `match` included.

    Bodies of functions and classes inside are not entered.
    """
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for inner in reversed(inner_bodies(node)):
                waiting.extend(reversed(inner))


def is_inlined(comprehension: str) -> bool:
    """Whether this Python runs such a comprehension (`f.<locals>.<listcomp>`) in the frame around it (PEP 709).

    What is defined inside is then named as if the comprehension were not there.
    """
    return sys.version_info >= (3, 12) and not comprehension.endswith("<genexpr>")


def inner_bodies(node: ast.AST) -> list[list[ast.stmt]]:
    """The statement lists directly inside a compound statement, in source order."""
    found: list[list[ast.stmt]] = []
    for name in _BODIES.get(type(node), ()):
        inside = getattr(node, name)
        if inside:
            found += [each.body for each in inside] if name in ("handlers", "cases") else [inside]
    return found


_HOLDING_STATEMENTS = frozenset({"body", "handlers", "cases", "orelse", "finalbody"})
_BODIES: dict[type, tuple[str, ...]] = {
    kind: bodies
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, (ast.stmt, ast.Module, ast.excepthandler, ast.match_case))
    if (bodies := tuple(name for name in kind._fields if name in _HOLDING_STATEMENTS))
}


@lru_cache(maxsize=1024)
def definitions(source: SourceFile) -> tuple[Scope, ...]:
    """Functions and classes of a file, outer before inner, in source order. Fast: expressions are not entered."""
    return tuple(_definitions(parse(source).body, ""))


def _definitions(body: Sequence[ast.stmt], prefix: str) -> Iterator[Scope]:
    for node in statements(body):
        if isinstance(node, ast.ClassDef):
            scope = definition_scope(node, prefix)
            yield scope
            yield from _definitions(node.body, scope.qualname + ".")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scope = definition_scope(node, prefix)
            yield scope
            yield from _definitions(node.body, scope.qualname + ".<locals>.")


def definition_scope(node: FunctionNode | ast.ClassDef, prefix: str) -> Scope:
    """The scope of a `def` or `class` whose enclosing scope gives the names in it this prefix."""
    is_class = isinstance(node, ast.ClassDef)
    return Scope(
        kind="class" if is_class else "function",
        qualname=prefix + node.name,
        line=node.lineno,
        end_line=node.end_lineno or node.lineno,
        first_line=first_line(node),
        decorators=tuple(filter(None, map(decorator_name, node.decorator_list))),
        global_names=declared_names(node.body, ast.Global),
        nonlocal_names=declared_names(node.body, ast.Nonlocal),
    )


@lru_cache(maxsize=256)
def all_scopes(source: SourceFile) -> tuple[Scope, ...]:
    """Functions, classes, lambdas and comprehensions of a file, outer before inner."""
    return tuple(_scopes_under(parse(source), ""))


def _scopes_under(parent: ast.AST, prefix: str) -> Iterator[Scope]:
    waiting = [(node, prefix) for node in reversed(children(parent))]
    while waiting:
        node, outside = waiting.pop()
        inside = outside
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scope = definition_scope(node, outside)
            yield scope
            inside = scope.qualname + ("." if isinstance(node, ast.ClassDef) else ".<locals>.")
        elif isinstance(node, ast.Lambda) or type(node) in COMPREHENSION_NAMES:
            name = outside + COMPREHENSION_NAMES.get(type(node), "<lambda>")
            line, end_line = _span(node)
            kind = "lambda" if isinstance(node, ast.Lambda) else "comprehension"
            yield Scope(kind, name, line, end_line, line)
            inside = outside if kind == "comprehension" and is_inlined(name) else name + ".<locals>."
        before = _evaluated_outside(node) if inside != outside else set()
        waiting.extend((child, outside if id(child) in before else inside) for child in reversed(children(node)))


def _evaluated_outside(node: ast.AST) -> set[int]:
    """Children (by id) that run in the scope around a definition: decorators, bases, defaults, annotations."""
    if isinstance(node, ast.ClassDef):
        return {id(item) for item in (*node.decorator_list, *node.bases, *node.keywords)}
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {id(item) for item in (*node.decorator_list, node.args, node.returns)}
    return {id(node.args)} if isinstance(node, ast.Lambda) else set()


def _span(node: ast.AST) -> tuple[int, int]:
    line = int(getattr(node, "lineno", 1))
    return line, int(getattr(node, "end_lineno", None) or line)


def text_around(source: SourceFile, line: int) -> str:
    """The text of the innermost function around a line; in a module the line's alone."""
    try:
        around = [
            each for each in definitions(source) if each.kind == "function" and each.line <= line <= each.end_line
        ]
    except SourceError:
        around = []
    innermost = max(around, key=lambda scope: scope.line, default=None)
    first, last = (innermost.line, innermost.end_line) if innermost is not None else (line, line)
    return "\n".join(source.text.split("\n")[first - 1 : last])


def enclosing_function(source: SourceFile, line: int) -> str:
    """Qualified name of the innermost function or class around a line, "<module>" at top level.

    Decorator lines belong to the function they decorate. Lambdas and comprehensions do not count: several may
    stand on one line.
    """
    inside = [scope for scope in definitions(source) if scope.first_line <= line <= scope.end_line]
    return inside[-1].qualname if inside else MODULE


@lru_cache(maxsize=256)
def loops(source: SourceFile) -> tuple[Loop, ...]:
    """All loop statements of a file, outer before inner."""
    found = [
        Loop(*_span(node), node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno)
        for node in walk(parse(source))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While))
    ]
    return tuple(sorted(found, key=lambda loop: (loop.line, -loop.end_line)))


def loops_around(source: SourceFile, line: int) -> tuple[Loop, ...]:
    """Loops of the same function whose body contains a line, outermost first."""
    function_line = max(
        (item.line for item in definitions(source) if item.first_line <= line <= item.end_line), default=0
    )
    return tuple(
        loop for loop in loops(source) if loop.line >= function_line and loop.body_line <= line <= loop.body_end_line
    )


@lru_cache(maxsize=512)
def class_bases(source: SourceFile) -> dict[str, tuple[str, ...]]:
    """Base classes, as written, of each class of a file by its qualified name. Do not change the result."""
    return dict(_class_bases(parse(source).body, ""))


def first_line(node: ast.stmt) -> int:
    """Where a statement begins, its decorators included."""
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(each.lineno for each in decorators)])


def base_names(node: ast.ClassDef) -> tuple[str, ...]:
    """The bases of a class as written, without arguments; `UNNAMED_BASE` for one that a call makes."""
    return tuple(dotted(base).removesuffix("[]") or UNNAMED_BASE for base in node.bases)


def _class_bases(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in statements(body):
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name, base_names(node)
            yield from _class_bases(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _class_bases(node.body, f"{prefix}{node.name}.<locals>.")


def names_outliving_iteration(loop: LoopNode) -> frozenset[str]:
    """Plain names that a loop's target or body binds and that are still bound when the next iteration starts.

    Left out: names that the body's own level deletes or sets to None after their last other binding, `except`
    names (Python deletes them), and names of comprehensions and inner functions.
    """
    alive: set[str] = set()
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        alive |= _stored_names(loop.target)
    for node in loop.body:
        if isinstance(node, ast.Delete) or (isinstance(node, ast.Assign) and _is_none(node.value)):
            alive -= {target.id for target in node.targets if isinstance(target, ast.Name)}
        else:
            alive |= _stored_names(node)
    return frozenset(alive)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _stored_names(node: ast.AST) -> set[str]:
    """Names bound under a node in its own scope; a name both bound and deleted in a branch counts as bound."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.Lambda):
        return set()
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Store) else set()
    found: set[str] = set()
    if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
        found.add(node.name)
    elif isinstance(node, ast.alias):
        found.add(node.asname or node.name.partition(".")[0])
    elif type(node) in COMPREHENSION_NAMES:
        walruses = (inner for inner in walk(node) if isinstance(inner, ast.NamedExpr))
        return {inner.target.id for inner in walruses}
    for child in children(node):
        found |= _stored_names(child)
    return found
