"""Where a program can let go of an attribute or variable: in front of its next value, or behind its last read.

Whether nobody misses it meanwhile is not told by source: these are edits to be tried by a run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_values import computes_on, find_kept
from tenure.syntax.edits.line_edits import insert_line, only_if_it_parses, split_lines
from tenure.syntax.text.file_nodes import nodes_in, nodes_of
from tenure.syntax.text.name_uses import begins_its_line, class_around, function_around, indent_of, is_shared, spans
from tenure.syntax.text.scopes import dotted, inner_bodies, parse, statements
from tenure.syntax.text.store_calls import GROWING_METHODS
from tenure.syntax.text.tree_walks import walk

_WITH = (ast.With, ast.AsyncWith)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LATER = (*_FUNCTIONS, ast.Lambda, ast.Yield, ast.YieldFrom)
_ENDS = (
    *("close", "destroy", "detach", "dispose", "evict", "exit", "finish", "free", "offload", "release", "retire"),
    *("shelve", "shutdown", "stop", "teardown", "unload"),
)
_RESULTS = ("result", "answer", "returned")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def let_go_before(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit that sets `x` or `self.x` to None in front of the statement on `line` that gives it its next value.

    None where the statement reads it, shares its line, or is in `__init__`, where there is no earlier value.
    """
    kept = find_kept(source, line, name)
    target = kept.target if kept is not None else None
    text = dotted(target)
    if kept is None or not text or "[" in text or isinstance(kept.statement, ast.AugAssign):
        return ()
    value = getattr(kept.statement, "value", None)
    if value is None or any(dotted(node) == text for node in walk(value)):
        return ()
    function = function_around(parse(source), [kept.statement.lineno])
    if getattr(function, "name", "") == "__init__" or not begins_its_line(source, kept.statement):
        return ()
    if "." not in text and not _lives_on(function, kept.statement, text):
        return ()
    return insert_line(source, kept.statement.lineno, f"{indent_of(source, kept.statement)}{text} = None")


def let_go_at_end(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit that sets `self.x`, which the statement on `line` sets, to None where that method ends: what it was
    needed for is done by then."""
    kept = find_kept(source, line, name)
    text = dotted(kept.target) if kept is not None else ""
    function = function_around(parse(source), [line])
    if kept is None or text != f"self.{name}" or not isinstance(function, _FUNCTIONS):
        return ()
    behind = [each for each in function.body if each.lineno > kept.statement.lineno]
    return at_end(source, function, f"{text} = None") if behind else ()


def let_go_at_start(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit that sets an attribute, which the statement on `line` sets, to None where that function begins: what it
    computes before it does without the last value. None where it reads that first."""
    kept = find_kept(source, line, name)
    text = dotted(kept.target) if kept is not None else ""
    function = function_around(parse(source), [line])
    if kept is None or "." not in text or "[" in text or not isinstance(function, _FUNCTIONS):
        return ()
    body = [each for each in function.body if not _is_docstring(each)]
    before = [each for each in body if each.lineno < kept.statement.lineno]
    owner, parameters = text.partition(".")[0], {each.arg for each in function.args.args}
    if (
        function.name == "__init__"
        or owner not in parameters
        or computes_on(kept)
        or any(_mentions(each, name) for each in before)
    ):
        return ()
    if not before or not begins_its_line(source, before[0]):
        return ()
    return insert_line(source, before[0].lineno, f"{indent_of(source, before[0])}{text} = None")


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def drop_inner_function(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit that deletes the function `name`, which is defined within another around `line` and calls itself, where
    that one ends: its closure holds it, and it holds whatever else it uses until the collector runs."""
    functions = [node for node in walk(parse(source)) if isinstance(node, _FUNCTIONS)]
    inner = [node for node in functions if node.name == name and _calls_itself(node)]
    outer = [node for node in functions if len(inner) == 1 and inner[0] in node.body and spans(node, [line])]
    if not outer:
        return ()
    last = outer[0].body[-1]
    if isinstance(last, ast.Return) and not any(isinstance(each, ast.Name) and each.id == name for each in walk(last)):
        return insert_line(source, last.lineno, f"{indent_of(source, last)}del {name}")
    return at_end(source, outer[0], f"del {name}")


def _calls_itself(function: FunctionNode) -> bool:
    return any(isinstance(each, ast.Name) and each.id == function.name for each in _own_nodes(function))


def let_go_where_it_ends(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit that sets `self.x`, which the statement on `line` sets, to None in the method of its class that lets go
    of things by its name: `unload`, `close`, `destroy`."""
    kept = find_kept(source, line, name)
    if kept is None or dotted(kept.target) != f"self.{name}":
        return ()
    cls = class_around(source, line)
    methods = [each for each in cls.body if isinstance(each, _FUNCTIONS)] if cls is not None else []
    ends = [each for each in methods if each.name.strip("_") in _ENDS and not spans(each, [line])]
    return at_end(source, ends[0], f"self.{name} = None") if len(ends) == 1 else ()


def let_go_behind_reads(sources: Sequence[SourceFile], name: str, *, empties: bool) -> Iterator[tuple[Edit, ...]]:
    """For each function that reads the attribute `name`, the edits that let go of it behind the last read there.

    `x.name = None`, of all objects that it reads it of, or `x.name.clear()` where it `empties` a container. A value
    that is returned is computed first.
    """
    for source in sources:
        functions = [node for node in nodes_in(source) if isinstance(node, _FUNCTIONS)]
        if not functions:
            continue
        modules = {each.asname or each.name for node in nodes_of(source, ast.Import) for each in node.names}
        for function in functions:
            owners = owners_read_in(function, name)
            targets = [f"{each}.{name}" for each in owners if modules.isdisjoint((each, each.partition(".")[0]))]
            if targets and not (empties and len(targets) > 1):
                text = f"{targets[0]}.clear()" if empties else " = ".join([*targets, "None"])
                yield from filter(None, [_behind(source, function, name, text)])


def stores_of(sources: Sequence[SourceFile], attribute: str) -> Iterator[tuple[SourceFile, int]]:
    """The lines on which a program assigns to an attribute of this name."""
    for source in sources:
        for node in nodes_in(source):
            if isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Store):
                yield source, node.lineno


def at_end(source: SourceFile, function: FunctionNode, text: str) -> tuple[Edit, ...]:
    """The edits that put a line at the end of a function, in front of what it gives back; none where it ends
    otherwise."""
    return _behind_statement(source, function, function.body[-1], text)


def _lives_on(function: ast.AST, statement: ast.stmt, name: str) -> bool:
    """Whether a variable has an earlier value when a statement is reached: in a loop, or from outside."""
    loops = (node for node in walk(function) if isinstance(node, _LOOPS))
    return is_shared(function, [name]) or any(spans(loop, [statement.lineno]) for loop in loops)


def owner_read_in(function: FunctionNode, name: str) -> str:
    """The object whose attribute a function reads, where it is always the same; "" where it does not or may not."""
    owners = owners_read_in(function, name)
    return owners[0] if len(owners) == 1 else ""


def owners_read_in(function: FunctionNode, name: str) -> tuple[str, ...]:
    """The objects, as they are written, whose attribute a function reads; empty where it does not or may not."""
    mentions = [node for node in _own_nodes(function) if isinstance(node, ast.Attribute) and node.attr == name]
    owners = tuple(dict.fromkeys(dotted(node.value) for node in mentions))
    added_to = {id(each) for node in _own_nodes(function) for each in _added_to(node)}
    is_read = any(isinstance(node.ctx, ast.Load) and id(node) not in added_to for node in mentions)
    later = any(isinstance(node, _LATER) for node in walk(function) if node is not function)
    elsewhere = _elsewhere(function)
    named = all(each and "[" not in each and each.partition(".")[0] not in elsewhere for each in owners)
    return owners if is_read and named and not later else ()


def _elsewhere(function: FunctionNode) -> set[str]:
    """Variables that end before the function's next statement does: those of comprehensions."""
    found = (each.target for node in _own_nodes(function) for each in getattr(node, "generators", ()))
    return {node.id for target in found for node in walk(target) if isinstance(node, ast.Name)}


def _added_to(node: ast.AST) -> Iterator[ast.AST]:
    """The container that an item is set in, or that a call of `append` and its like adds to."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        yield node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWING_METHODS:
        inner = node.func.value
        while isinstance(inner, (ast.Subscript, ast.Call)):
            called = inner.func if isinstance(inner, ast.Call) else inner
            if not isinstance(called, (ast.Subscript, ast.Attribute)):
                return
            inner = called.value
        yield inner


def _own_nodes(function: FunctionNode) -> Iterator[ast.AST]:
    for statement in function.body:
        yield from walk(statement)


def _behind(source: SourceFile, function: FunctionNode, name: str, text: str) -> tuple[Edit, ...]:
    """Behind the last statement of the function's body that mentions the attribute, inside of a `with` last."""
    body: Sequence[ast.stmt] = function.body
    while True:
        mentions = [node for node in body if _mentions(node, name)]
        last = mentions[-1]
        if not isinstance(last, _WITH) or len(mentions) > 1:
            break
        body = last.body
        if not any(_mentions(node, name) for node in body):
            break
    if isinstance(last, (ast.Assign, ast.AnnAssign)) and _only_stores(last, name):
        return ()
    return _behind_statement(source, function, last, text)


def _behind_statement(source: SourceFile, function: FunctionNode, last: ast.stmt, text: str) -> tuple[Edit, ...]:
    if not begins_its_line(source, last) or any(isinstance(node, ast.Return) for node in _inside(last)):
        return ()
    indent, end = indent_of(source, last), (last.end_lineno or last.lineno) + 1
    if isinstance(last, ast.Raise):
        return ()
    if not isinstance(last, ast.Return):
        return insert_line(source, end, indent + text)
    if last.value is None or isinstance(last.value, (ast.Name, ast.Constant)):
        return insert_line(source, last.lineno, indent + text)
    used = {node.id for node in walk(function) if isinstance(node, ast.Name)}
    result = next((each for each in _RESULTS if each not in used), "")
    first = split_lines(source.text)[last.lineno - 1].rstrip("\r\n")
    if not result or not first.startswith(f"{indent}return "):
        return ()
    named = Edit(source.path, last.lineno, first, f"{indent}{result} = {first[len(indent) + len('return ') :]}")
    return only_if_it_parses(source, [named, Edit(source.path, end, "", f"{indent}{text}\n{indent}return {result}")])


def _inside(statement: ast.stmt) -> Iterator[ast.stmt]:
    for body in inner_bodies(statement):
        yield from statements(body)


def _only_stores(statement: ast.stmt, name: str) -> bool:
    mentions = [node for node in walk(statement) if isinstance(node, ast.Attribute) and node.attr == name]
    return all(isinstance(node.ctx, ast.Store) for node in mentions)


def _mentions(statement: ast.stmt, name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in walk(statement))
