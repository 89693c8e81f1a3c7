"""Whether a program may run backward through what it keeps: then the kept graph is wanted, and cutting it is wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import children, walk

_KEEPING = ("retain_graph", "create_graph")
_DERIVATIVES = frozenset({"grad", "backward", "jacobian", "hessian", "vjp", "jvp"})
_WITHOUT_DERIVATIVE = frozenset({"argmax", "argmin", "detach", "item", "numpy", "size", "tolist"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def keeps_graphs(sources: Iterable[SourceFile]) -> bool:
    """Whether a backward pass leaves its graph usable, so that a later one may go through it again.

    A derivative that is made for a loss (`grad(..., create_graph=True)`) keeps none if a plain derivative follows.
    """
    calls = [node for tree in _trees(sources) for node in walk(tree) if isinstance(node, ast.Call)]
    plain = any(called_name(call) in ("backward", "grad") and not _keeps(call, *_KEEPING) for call in calls)
    return any(
        _keeps(call, "retain_graph", *([] if plain and called_name(call) == "grad" else _KEEPING)) for call in calls
    )


def goes_backward(sources: Iterable[SourceFile], name: str, file: str) -> bool:
    """Whether a value that is computed from `name` of a file (a variable; `.name`: an attribute) is differentiated.

    Followed are assignments, loops and the results of functions, by name alone and over all files: this errs on the
    side of yes. The arguments of calls are followed into their results, not into their bodies; `self.name` of other
    files is another object's.
    """
    trees = [(tree, "" if path == file else name) for path, tree in _trees_by_path(sources)]
    flows = [flow for tree, foreign in trees for flow in _flows(tree, foreign)]
    derived = {name}
    while True:
        found = {target for targets, value in flows if derived & value for target in targets} - derived
        if not found:
            break
        derived |= found
    return any(derived & _names(each, foreign) for tree, foreign in trees for each in _differentiated(tree))


def _trees(sources: Iterable[SourceFile]) -> list[ast.Module]:
    return [tree for _, tree in _trees_by_path(sources)]


def _trees_by_path(sources: Iterable[SourceFile]) -> list[tuple[str, ast.Module]]:
    found = []
    for source in sources:
        try:
            found.append((source.path, parse(source)))
        except SourceError:
            continue
    return found


def _flows(tree: ast.Module, foreign: str) -> Iterator[tuple[set[str], set[str]]]:
    """Names that are bound, with the names in what they are bound to."""
    for node in walk(tree):
        if isinstance(node, ast.Assign):
            yield {name for target in node.targets for name in last_names(target)}, _names(node.value, foreign)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
            yield last_names(node.target), _names(node.value, foreign)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield last_names(node.target), _names(node.iter, foreign)
        elif isinstance(node, _FUNCTIONS) and node.name not in ("forward", "__call__"):
            called = f".{node.name}" if "property" in map(dotted, node.decorator_list) else f"{node.name}()"
            returned = (each.value for each in walk(node) if isinstance(each, (ast.Return, ast.Yield)))
            yield {called}, {name for value in returned if value is not None for name in _names(value, foreign)}


def last_names(target: ast.expr) -> set[str]:
    """The last names of what is assigned to: `.loss` of `self.loss`, `rows` of `rows[0]`."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return {name for part in target.elts for name in last_names(part)}
    while isinstance(target, (ast.Subscript, ast.Starred)):
        target = target.value
    if isinstance(target, ast.Attribute):
        return {f".{target.attr}"}
    return {target.id} if isinstance(target, ast.Name) else set()


def _names(node: ast.AST, foreign: str) -> set[str]:
    """Variables, attributes and functions (`f()`) that a value is computed from, not `self.<foreign>`.

    What has no derivative is left out.
    """
    if isinstance(node, ast.Call) and called_name(node) in _WITHOUT_DERIVATIVE:
        return set()
    if isinstance(node, ast.Attribute) and f".{node.attr}" == foreign and dotted(node.value) == "self":
        return set()
    own: set[str] = set()
    parts: Iterable[ast.AST] = children(node)
    if isinstance(node, ast.Name):
        own = {node.id}
    elif isinstance(node, ast.Attribute):
        own = {f".{node.attr}"}
    elif isinstance(node, ast.Call):
        own = {f"{called_name(node)}()"}
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        parts = [*receiver, *node.args, *node.keywords]
    return own.union(*(_names(each, foreign) for each in parts))


def _differentiated(tree: ast.Module) -> Iterator[ast.AST]:
    """What `.backward()` is called on, and all arguments of `backward`, `grad` and the like."""
    for node in walk(tree):
        if isinstance(node, ast.Call) and called_name(node) in _DERIVATIVES:
            yield from node.args
            if isinstance(node.func, ast.Attribute):
                yield node.func.value


def _keeps(call: ast.Call, *names: str) -> bool:
    given = (each.value for each in call.keywords if each.arg in names)
    return any(not isinstance(value, ast.Constant) or bool(value.value) for value in given)
