"""Whether a program may run backward through what it keeps: then the kept graph is wanted, and cutting it is wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.expressions import all_arguments, called_name
from tenure.syntax.text.name_uses import stored_in
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import children, walk

_KEEPING = ("retain_graph", "create_graph")
_DERIVATIVES = frozenset({"grad", "backward", "jacobian", "hessian", "vjp", "jvp"})
_WITHOUT_DERIVATIVE = frozenset({"argmax", "argmin", "detach", "item", "numpy", "size", "tolist"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


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

    Followed are assignments, loops, arguments into functions of the called name, and results of functions: variables
    within the function that has them, all else by name alone and over all files, which errs on the side of yes. The
    arguments of calls count for their results as well; `self.name` of other files is another object's.
    """
    files = [
        _File(path, tree, "" if path == file else name, _variables(tree, path))
        for path, tree in _trees_by_path(sources)
    ]
    parameters = _parameters(files)
    flows = [flow for each in files for flow in (*_flows(each), *_arguments(each, parameters))]
    derived = {name}
    for each in files:
        if not each.foreign:
            derived |= {own for own in each.variables.values() if own.endswith(f":{name}")}
    while True:
        found = {target for targets, value in flows if derived & value for target in targets} - derived
        if not found:
            break
        derived |= found
    return any(derived & _names(value, each) for each in files for value in _differentiated(each.tree))


@dataclass(frozen=True)
class _File:
    """One file; `foreign` is the attribute that is another object's there, `variables` tell by node what a variable is
    known by: its name at the top of a file, with its function elsewhere."""

    path: str
    tree: ast.Module
    foreign: str
    variables: Mapping[int, str]


def _variables(tree: ast.Module, path: str) -> dict[int, str]:
    found: dict[int, str] = {}
    waiting: list[tuple[ast.AST, tuple[tuple[str, frozenset[str]], ...]]] = [(tree, ())]
    while waiting:
        node, scopes = waiting.pop()
        if isinstance(node, _FUNCTIONS):
            scopes = (*scopes, (_label(path, node), _bound_in(node)))
        if isinstance(node, ast.Name):
            owner = next((label for label, names in reversed(scopes) if node.id in names), "")
            found[id(node)] = owner + node.id
        waiting += [(child, scopes) for child in children(node)]
    return found


def _label(path: str, function: _Function) -> str:
    return f"{path}:{function.lineno}:"


def _bound_in(function: _Function) -> frozenset[str]:
    """Variables that a function binds, its parameters among them."""
    shared = {name for node in walk(function) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    return frozenset((stored_in(function) | {each.arg for each in all_arguments(function.args)}) - shared)


def _parameters(files: Iterable[_File]) -> dict[str, set[str]]:
    """For functions by name what all of their parameters are known by."""
    found: dict[str, set[str]] = {}
    for each in files:
        for node in walk(each.tree):
            if isinstance(node, _FUNCTIONS):
                label = _label(each.path, node)
                found.setdefault(node.name, set()).update(label + given.arg for given in all_arguments(node.args))
    return found


def _arguments(file: _File, parameters: Mapping[str, set[str]]) -> Iterator[tuple[set[str], set[str]]]:
    """What calls give to functions: any argument to any parameter, which errs on the side of yes."""
    for node in walk(file.tree):
        if isinstance(node, ast.Call) and (into := parameters.get(called_name(node))):
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            yield into, {name for value in given for name in _names(value, file)}


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


def _flows(file: _File) -> Iterator[tuple[set[str], set[str]]]:
    """Names that are bound, with the names in what they are bound to."""
    for node in walk(file.tree):
        if isinstance(node, ast.Assign):
            yield {name for each in node.targets for name in _bound(each, file)}, _names(node.value, file)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
            yield _bound(node.target, file), _names(node.value, file)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield _bound(node.target, file), _names(node.iter, file)
        elif isinstance(node, _FUNCTIONS) and node.name not in ("forward", "__call__"):
            called = f".{node.name}" if "property" in map(dotted, node.decorator_list) else f"{node.name}()"
            returned = (each.value for each in walk(node) if isinstance(each, (ast.Return, ast.Yield)))
            yield {called}, {name for value in returned if value is not None for name in _names(value, file)}


def _bound(target: ast.expr, file: _File) -> set[str]:
    """The same of what is assigned to as `last_names`, variables as they are known."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return {name for part in target.elts for name in _bound(part, file)}
    while isinstance(target, (ast.Subscript, ast.Starred)):
        target = target.value
    return {file.variables[id(target)]} if isinstance(target, ast.Name) else last_names(target)


def last_names(target: ast.expr) -> set[str]:
    """The last names of what is assigned to: `.loss` of `self.loss`, `rows` of `rows[0]`."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return {name for part in target.elts for name in last_names(part)}
    while isinstance(target, (ast.Subscript, ast.Starred)):
        target = target.value
    if isinstance(target, ast.Attribute):
        return {f".{target.attr}"}
    return {target.id} if isinstance(target, ast.Name) else set()


def _names(node: ast.AST, file: _File) -> set[str]:
    """Variables, attributes and functions (`f()`) that a value is computed from, not `self.<foreign>`.

    What has no derivative is left out.
    """
    if isinstance(node, ast.Call) and called_name(node) in _WITHOUT_DERIVATIVE:
        return set()
    if isinstance(node, ast.Attribute) and f".{node.attr}" == file.foreign and dotted(node.value) == "self":
        return set()
    own: set[str] = set()
    parts: Iterable[ast.AST] = children(node)
    if isinstance(node, ast.Name):
        own = {file.variables[id(node)]}
    elif isinstance(node, ast.Attribute):
        own = {f".{node.attr}"}
    elif isinstance(node, ast.Call):
        own = {f"{called_name(node)}()"}
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        parts = [*receiver, *node.args, *node.keywords]
    return own.union(*(_names(each, file) for each in parts))


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
