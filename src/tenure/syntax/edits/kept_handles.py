"""Hooks that are taken out again: the handle of a registration is kept, and removed when the work is done, or when the
next one of its kind comes.

When that is, source does not tell for sure: these are edits to be tried by a run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.let_go import FunctionNode, at_end
from tenure.syntax.edits.line_edits import Insertion, insert_into_lines, insert_line, only_if_it_parses, split_lines
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.name_uses import begins_its_line, class_around, function_around, indent_of, spans
from tenure.syntax.text.scopes import dotted, parse, statements
from tenure.syntax.text.tree_walks import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_ENDS = (
    "close",
    "remove",
    "stop",
    "finish",
    "release",
    "__exit__",
    "detach",
    "on_epoch_end",
    "end",
    "clear",
    "teardown",
    "done",
    "dismiss",
    "uninstall",
    "disable",
    "restore",
)
_HANDLE = "_hook_handle"


def remove_handles(source: SourceFile, line: int) -> Iterator[tuple[Edit, ...]]:
    """Edits that take out the hook which is registered on `line`: by the method that ends the object's work, at the
    end of the function, or when the function registers the next one (of the same key, where it has one)."""
    tree = parse(source)
    function = function_around(tree, [line])
    registration = _registration_at(tree, line)
    if registration is None and isinstance(function, _FUNCTIONS):
        function, registration = _registration_of_inner(tree, function)
    if registration is None or not isinstance(function, _FUNCTIONS):
        return
    statement, call = registration
    if not begins_its_line(source, statement):
        return
    loop = _loop_around(function, statement)
    is_method = bool(function.args.args) and function.args.args[0].arg == "self"
    ways = [_at_its_end(source, tree, function, statement, loop)] if is_method else []
    block = block_of(function)
    if isinstance(statement, ast.Expr) and (block is not None or _goes_on(function, loop or statement)):
        ways.append(_at_functions_end(source, function, statement, loop))
    handle = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(handle, ast.Name) and loop is None and _is_only_given_back(function, handle):
        ways.append(at_end(source, function, f"{handle.id}.remove()"))
    if is_method and loop is None:
        former = _instead_of_former if function.name != "__init__" else _instead_of_another_objects
        ways.append(former(source, statement, call))
    yield from filter(None, ways)


def lines_that_register(source: SourceFile) -> list[int]:
    """The lines on which a file registers hooks."""
    return [statement.lineno for statement, _ in _registrations(parse(source))]


def _registration_of_inner(
    tree: ast.Module, function: FunctionNode
) -> tuple[ast.AST, tuple[ast.Expr | ast.Assign, ast.Call] | None]:
    """The one registration that is given a function which is defined in this one, or this one by the function around
    it; with the function that registers."""
    outer = function_around(tree, [function.lineno - 1, function.end_lineno or 0])
    inner = {each.name for each in walk(function) if isinstance(each, _FUNCTIONS) and each is not function}
    for around, names in ((function, inner), (outer, {function.name})):
        found = [each for each in _registrations(around) if any(dotted(given) in names for given in each[1].args)]
        if found:
            return around, found[0] if len(found) == 1 else None
    return function, None


def _registration_at(tree: ast.Module, line: int) -> tuple[ast.Expr | ast.Assign, ast.Call] | None:
    return next((each for each in _registrations(tree) if spans(each[0], [line])), None)


def _registrations(tree: ast.AST) -> Iterator[tuple[ast.Expr | ast.Assign, ast.Call]]:
    """Statements that register a hook, each with its call."""
    for node in walk(tree):
        if isinstance(node, (ast.Expr, ast.Assign)) and isinstance(node.value, ast.Call):
            name = called_name(node.value)
            if name.startswith("register") and "hook" in name:
                yield node, node.value


def _loop_around(function: FunctionNode, statement: ast.stmt) -> ast.stmt | None:
    loops = [each for each in statements(function.body) if isinstance(each, _LOOPS) and _inside(each, statement)]
    return loops[0] if loops else None


def _inside(outer: ast.stmt, node: ast.stmt) -> bool:
    return outer.lineno <= node.lineno <= (outer.end_lineno or outer.lineno)


def _is_only_given_back(function: FunctionNode, handle: ast.Name) -> bool:
    """Whether the function does nothing with the handle but return it, in its last statement, if that."""
    uses = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == handle.id]
    last = function.body[-1]
    given = isinstance(last, ast.Return) and isinstance(last.value, ast.Name) and last.value.id == handle.id
    return len(uses) == 1 + given


def _goes_on(function: FunctionNode, statement: ast.stmt) -> bool:
    """Whether a function does something behind the registration: the hook may be meant for just that."""
    last, end = function.body[-1], statement.end_lineno or statement.lineno
    between = [each for each in function.body if each.lineno > end and each is not last]
    calls = last.lineno > end and any(isinstance(node, ast.Call) for node in walk(last))
    return bool(between) or calls


def _named(source: SourceFile, statement: ast.stmt, text: str, close: str = "") -> tuple[Edit, ...]:
    """The statement's call with something in front of it (and behind)."""
    places = [Insertion(statement.lineno, statement.col_offset, text)]
    if close:
        places.append(Insertion(statement.end_lineno or 0, statement.end_col_offset or 0, close))
    return insert_into_lines(source, places)


def _at_its_end(
    source: SourceFile, tree: ast.Module, function: FunctionNode, statement: ast.stmt, loop: ast.stmt | None
) -> tuple[Edit, ...]:
    """In the method of the same class that ends its work: all that were registered until then."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    kept = (ast.get_source_segment(source.text, target) or "") if target is not None else ""
    removing = [each for each in _methods_beside(tree, function) if removes(each, kept)]
    ending = [*removing, *ending_methods(tree, function)]
    if not ending:
        return ()
    end = ending[0]
    if kept.startswith("self.") and "[" not in kept and loop is None:
        return at_end(source, end, f"{kept}.remove()")
    collect = f'vars(self).setdefault("{_HANDLE}s", []).append('
    if not kept:
        named = _named(source, statement, collect, ")")
    else:
        named = insert_line(source, (statement.end_lineno or 0) + 1, f"{indent_of(source, statement)}{collect}{kept})")
    indent = indent_of(source, end.body[0])
    removed = at_end(source, end, f'for handle in vars(self).pop("{_HANDLE}s", ()):\n{indent}    handle.remove()')
    return _both(source, named, removed)


def ending_methods(tree: ast.Module, function: ast.AST) -> list[FunctionNode]:
    """Those of the class of a method that end the work of its objects, by their names, the likeliest first."""
    methods = _methods_beside(tree, function)
    return [each for name in _ENDS for each in methods if each.name == name]


def _methods_beside(tree: ast.Module, function: ast.AST) -> list[FunctionNode]:
    cls = next((each for each in walk(tree) if isinstance(each, ast.ClassDef) and function in each.body), None)
    methods = [each for each in cls.body if isinstance(each, _FUNCTIONS)] if cls is not None else []
    return [each for each in methods if each is not function]


def removes(method: FunctionNode, handle: str) -> bool:
    """Whether a method removes the one handle that has a name: `self.handle.remove()`."""
    calls = (node for node in walk(method) if isinstance(node, ast.Call))
    return bool(handle) and any(dotted(call.func) == f"{handle}.remove" for call in calls)


def _at_functions_end(
    source: SourceFile, function: FunctionNode, statement: ast.stmt, loop: ast.stmt | None
) -> tuple[Edit, ...]:
    """At the end of the function, or of the `with` block that it is the context manager of."""
    block = block_of(function)
    if loop is None:
        named, removed = [_named(source, statement, "handle = ")], "handle.remove()"
    else:
        listed = insert_line(source, loop.lineno, f"{indent_of(source, loop)}handles = []")
        named = [listed, _named(source, statement, "handles.append(", ")")]
        inner = indent_of(source, function.body[0]) + "    " * (1 + (block is not None))
        removed = f"for handle in handles:\n{inner}handle.remove()"
    ended = do_behind_block(source, block, removed) if block is not None else at_end(source, function, removed)
    return _both(source, *named, ended)


def block_of(function: FunctionNode) -> ast.Expr | None:
    """The `yield` on a line of its own that a context manager ends with: what is done meanwhile is the block."""
    last = function.body[-1]
    is_manager = any(dotted(each).rpartition(".")[2] == "contextmanager" for each in function.decorator_list)
    yields = isinstance(last, ast.Expr) and isinstance(last.value, ast.Yield) and last.lineno == last.end_lineno
    return last if is_manager and yields and isinstance(last, ast.Expr) else None


def do_behind_block(source: SourceFile, block: ast.Expr, text: str) -> tuple[Edit, ...]:
    """The edit that puts a line into a `finally` around the `yield` of a context manager."""
    before, indent = split_lines(source.text)[block.lineno - 1].rstrip("\r\n"), indent_of(source, block)
    lines = [f"{indent}try:", f"    {before}", f"{indent}finally:", f"{indent}    {text}"]
    return (Edit(source.path, block.lineno, before, "\n".join(lines)),)


def _instead_of_former(source: SourceFile, statement: ast.Expr | ast.Assign, call: ast.Call) -> tuple[Edit, ...]:
    indent = indent_of(source, statement)
    if isinstance(statement, ast.Assign):
        kept = dotted(statement.targets[0])
        if not kept.startswith("self.") or "[" in kept or kept.count(".") != 1:
            return ()
        name = kept.removeprefix("self.")
        former = f'{indent}if getattr(self, "{name}", None) is not None:\n{indent}    {kept}.remove()'
        return insert_line(source, statement.lineno, former)
    key = _key_of(call)
    if key:
        former = (
            f'{indent}handles = vars(self).setdefault("{_HANDLE}s", {{}})\n'
            f"{indent}if {key} in handles:\n{indent}    handles[{key}].remove()"
        )
        return _both(
            source, insert_line(source, statement.lineno, former), _named(source, statement, f"handles[{key}] = ")
        )
    former = f'{indent}if hasattr(self, "{_HANDLE}"):\n{indent}    self.{_HANDLE}.remove()'
    return _both(source, insert_line(source, statement.lineno, former), _named(source, statement, f"self.{_HANDLE} = "))


def _instead_of_another_objects(
    source: SourceFile, statement: ast.Expr | ast.Assign, call: ast.Call
) -> tuple[Edit, ...]:
    """In `__init__`: the hook that an earlier object of the class registered on the same module goes."""
    cls, owner = class_around(source, statement.lineno), getattr(call.func, "value", None)
    text = dotted(owner) if owner is not None else ""
    if cls is None or not text or "[" in text or not isinstance(statement, ast.Expr):
        return ()
    indent, key = indent_of(source, statement), f'"_hook_of_{cls.name.lower()}"'
    former = f"{indent}if {key} in vars({text}):\n{indent}    vars({text})[{key}].remove()"
    named = _named(source, statement, f"vars({text})[{key}] = ")
    return _both(source, insert_line(source, statement.lineno, former), named)


def _key_of(call: ast.Call) -> str:
    """`name` of `self.weights[name].register_hook(...)`."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return owner.slice.id if isinstance(owner, ast.Subscript) and isinstance(owner.slice, ast.Name) else ""


def _both(source: SourceFile, *edits: Sequence[Edit]) -> tuple[Edit, ...]:
    if not all(edits):
        return ()
    return only_if_it_parses(source, [edit for some in edits for edit in some])
