"""A reference back to the owner that does not keep it: `weakref.proxy(owner)` in place of the owner, in what is stored
there, and in functions and methods that are bound to it."""

from __future__ import annotations

import ast

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_values import find_kept
from tenure.syntax.edits.line_edits import only_if_it_parses, replace_expression, write_over
from tenure.syntax.edits.missing_imports import import_missing
from tenure.syntax.text.name_uses import class_around, function_around, spans
from tenure.syntax.text.scopes import FunctionNode, dotted, parse
from tenure.syntax.text.tree_walks import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def refer_weakly(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edits by which `self.<name> = owner` on `line` keeps a weak proxy, with the import where it is missing.

    None but of a plain variable: what is made there would be gone at once. A proxy is not hashed and is no `is` of its
    owner, so that a run has to prove it.
    """
    kept = find_kept(source, line, name)
    text = dotted(kept.target) if kept is not None else ""
    if kept is None or not isinstance(kept.value, ast.Name) or not text.startswith("self.") or "[" in text:
        return ()
    owner = kept.value.id
    proxy = f"weakref.proxy({owner})"
    if owner in _without_owner(function_around(parse(source), [line])):
        proxy = f"{proxy} if {owner} is not None else None"
    weak = replace_expression(source, kept.value, proxy)
    return only_if_it_parses(source, [*import_missing(source, "weakref"), *weak]) if weak else ()


def bind_weakly(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edits by which functions that `self.<name>` gets on `line`, themselves or in a container or call, do not keep
    their object: `functools.partial(type(self).f, weakref.proxy(self))` for the bound method `self.f`, and a parameter
    `self=weakref.proxy(self)` for lambdas and functions defined in the method that read `self`.

    Such a function is no method any more, and may be given more by who calls it: a run has to prove it.
    """
    kept = find_kept(source, line, name)
    method = function_around(parse(source), [line])
    if kept is None or kept.value is None or not isinstance(method, _FUNCTIONS):
        return ()
    bound = _bound_methods(source, kept.value, method)
    changes: list[tuple[ast.AST, str]] = [
        (node, f"functools.partial(type(self).{node.attr}, weakref.proxy(self))") for node in bound
    ]
    changes += [_with_default(source, function) for function in _closures(kept.value, method)]
    if not changes:
        return ()
    imported = import_missing(source, *(("functools", "weakref") if bound else ("weakref",)))
    written = write_over(source, changes)
    return only_if_it_parses(source, [*imported, *written]) if written else ()


def close_weakly(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edits by which the function `name`, which is defined around `line` in a method, takes the `self` that it
    reads as a parameter with a weak default: a tensor's or module's hook then does not keep its object."""
    functions = [node for node in walk(parse(source)) if isinstance(node, _FUNCTIONS)]
    found = [node for node in functions if node.name == name and spans(node, [line])]
    around = [node for node in functions if found and found[0] in node.body]
    if not around or not _closures(ast.Name(id=name), around[0]):
        return ()
    written = write_over(source, [_with_default(source, found[0])])
    return only_if_it_parses(source, [*import_missing(source, "weakref"), *written]) if written else ()


def _bound_methods(source: SourceFile, value: ast.expr, method: FunctionNode) -> list[ast.Attribute]:
    """Those of the class around a method that a value refers to, without calling them there."""
    cls = class_around(source, method.lineno)
    body = cls.body if cls is not None and method in cls.body else []
    methods = {each.name for each in body if isinstance(each, _FUNCTIONS) and not each.decorator_list}
    called = {id(node.func) for node in walk(value) if isinstance(node, ast.Call)}
    inner = {id(node) for each in walk(value) if isinstance(each, ast.Lambda) for node in walk(each)}
    return [
        node
        for node in walk(value)
        if isinstance(node, ast.Attribute) and dotted(node) == f"self.{node.attr}" and node.attr in methods
        if id(node) not in called | inner
    ]


def _closures(value: ast.expr, method: FunctionNode) -> list[ast.Lambda | FunctionNode]:
    """Lambdas of a value, and functions of its method that it names, that read `self` of the method."""
    named = {node.id for node in walk(value) if isinstance(node, ast.Name)}
    inner = [
        node for node in walk(method) if isinstance(node, _FUNCTIONS) and node is not method and node.name in named
    ]
    lambdas = [node for node in walk(value) if isinstance(node, ast.Lambda)]
    return [
        each
        for each in (*lambdas, *inner)
        if _reads_self(each) and not (each.args.vararg or each.args.kwonlyargs or each.args.kwarg)
        if each.args.args or isinstance(each, ast.Lambda)
    ]


def _reads_self(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "self" for node in walk(function))


def _with_default(source: SourceFile, function: ast.Lambda | FunctionNode) -> tuple[ast.AST, str]:
    """The last of what a function takes, and the same with a weak `self` behind it; of a lambda that takes nothing all
    of it."""
    weak, given = "self=weakref.proxy(self)", function.args
    last = given.defaults[-1] if given.defaults else given.args[-1] if given.args else None
    if last is None and isinstance(function, ast.Lambda):
        return function, f"lambda {weak}: {ast.get_source_segment(source.text, function.body)}"
    assert last is not None
    return last, f"{ast.get_source_segment(source.text, last)}, {weak}"


def _without_owner(function: ast.AST) -> set[str]:
    """The parameters of a function that are None where nothing is given for them: the root of a tree has no parent."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return set()
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [
        *zip(reversed(plain), reversed(given.defaults), strict=False),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    return {each.arg for each, value in defaults if isinstance(value, ast.Constant) and value.value is None}
