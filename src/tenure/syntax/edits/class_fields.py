"""What a class of the program takes when it is made: fields, by the order in which they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.source import SourceFile
from tenure.syntax.text.expressions import assigned_parts, called_name, split_receiver
from tenure.syntax.text.file_nodes import nodes_in, nodes_of
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.store_calls import COPYING_FUNCTIONS
from tenure.syntax.text.tree_walks import walk


def is_named_tuple(sources: Sequence[SourceFile], name: str) -> bool:
    """Whether a class of the program is a named tuple, be it written as a class or as a call."""
    return any(cls.name == name and "NamedTuple" in map(dotted, cls.bases) for cls in _classes(sources)) or any(
        name in map(dotted, made.targets) for made in _named_tuples_by_call(sources)
    )


def named_tuples(sources: Sequence[SourceFile]) -> list[str]:
    """The names of the program's named tuples that are written as classes."""
    return [cls.name for cls in _classes(sources) if "NamedTuple" in map(dotted, cls.bases)]


def is_frozen(sources: Sequence[SourceFile], name: str) -> bool:
    """Whether a class of the program is a dataclass whose objects cannot be changed."""
    made = (each for cls in _classes(sources) if cls.name == name for each in cls.decorator_list)
    given = (each.keywords for each in made if isinstance(each, ast.Call) and called_name(each) == "dataclass")
    return any(each.arg == "frozen" and getattr(each.value, "value", None) is True for all_ in given for each in all_)


def fields_of_class(sources: Sequence[SourceFile], name: str) -> list[str]:
    """What a class of the program takes, in order: its annotated fields, or what its `__init__` keeps of each."""
    found = next((cls for cls in _classes(sources) if cls.name == name), None)
    if found is not None:
        return list(_fields_of(found))
    made = next((each for each in _named_tuples_by_call(sources) if name in map(dotted, each.targets)), None)
    return _fields_named(made.value) if made is not None and isinstance(made.value, ast.Call) else []


def given_for(sources: Sequence[SourceFile], name: str, field: str) -> tuple[SourceFile, ast.expr] | None:
    """What a class of the program is given for a field, where it is made in one place; None of what is unpacked."""
    made = [(source, node) for source in sources for node in nodes_of(source, ast.Call) if called_name(node) == name]
    if len(made) != 1:
        return None
    source, call = made[0]
    value = given_in(sources, call, field)
    return None if value is None else (source, value)


def given_in(sources: Sequence[SourceFile], call: ast.Call, field: str) -> ast.expr | None:
    """What a call of a class of the program gives for a field; None of a constant and of what may be unpacked."""
    return _given(call, field, fields_of_class(sources, called_name(call)))


def given_on(sources: Sequence[SourceFile], source: SourceFile, line: int, name: str, field: str) -> ast.expr | None:
    """What the call on a line that makes a class of the program, or copies one of its objects by `replace`, gives for a
    field; None where several do."""
    near = [node for node in nodes_of(source, ast.Call) if node.lineno <= line <= (node.end_lineno or line)]
    fields = fields_of_class(sources, name)
    making = [_given(node, field, fields) for node in near if called_name(node) == name]
    copying = [
        _given(node, field, fields, by_position=False) for node in near if called_name(node) in COPYING_FUNCTIONS
    ]
    found = [value for value in (*making, *copying) if value is not None]
    return found[0] if len(found) == 1 else None


def _given(call: ast.Call, field: str, fields: Sequence[str], *, by_position: bool = True) -> ast.expr | None:
    """What a call gives for one of the fields; None of a constant, and of what may be unpacked."""
    if field not in fields:
        return None
    before = call.args[: fields.index(field) + 1] if by_position else []
    if any(isinstance(each, ast.Starred) for each in before):
        return None
    by_name = next((each.value for each in call.keywords if each.arg == field), None)
    value = before[-1] if len(before) == fields.index(field) + 1 else by_name
    return None if isinstance(value, ast.Constant) else value


def _fields_of(cls: ast.ClassDef) -> Iterator[str]:
    made = next((node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)
    if made is None:
        yield from (
            node.target.id for node in cls.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        )
        return
    kept = {
        value.id: split_receiver(target)[1]
        for node in walk(made)
        if isinstance(node, ast.Assign)
        for target, value in assigned_parts(node.targets[0], node.value)
        if isinstance(value, ast.Name)
    }
    yield from (kept.get(each.arg, each.arg) for each in made.args.args[1:])


def _fields_named(made: ast.Call) -> list[str]:
    try:
        names = ast.literal_eval(made.args[1])
    except ValueError:
        return []
    return names.replace(",", " ").split() if isinstance(names, str) else list(names)


def _classes(sources: Sequence[SourceFile]) -> Iterator[ast.ClassDef]:
    return (node for source in sources for node in nodes_in(source) if isinstance(node, ast.ClassDef))


def _named_tuples_by_call(sources: Sequence[SourceFile]) -> Iterator[ast.Assign]:
    """`Best = namedtuple("Best", "score weights")`."""
    for source in sources:
        for node in nodes_in(source):
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            if called_name(node.value) == "namedtuple" and node.value.args[1:]:
                yield node
