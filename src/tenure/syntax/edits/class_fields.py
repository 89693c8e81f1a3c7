"""What a class of the program takes when it is made: fields, by the order in which they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.source import SourceFile
from tenure.syntax.text.expressions import called_name, split_receiver
from tenure.syntax.text.file_nodes import nodes_in, nodes_of
from tenure.syntax.text.scopes import dotted
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
    fields = fields_of_class(sources, name)
    made = [(source, node) for source in sources for node in nodes_of(source, ast.Call) if called_name(node) == name]
    if field not in fields or len(made) != 1:
        return None
    (source, call), at = made[0], fields.index(field)
    by_name = next((each.value for each in call.keywords if each.arg == field), None)
    value = call.args[at] if at < len(call.args) else by_name
    return None if value is None or isinstance(value, (ast.Constant, ast.Starred)) else (source, value)


def _fields_of(cls: ast.ClassDef) -> Iterator[str]:
    made = next((node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)
    if made is None:
        yield from (
            node.target.id for node in cls.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        )
        return
    kept = {
        node.value.id: split_receiver(node.targets[0])[1]
        for node in walk(made)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
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
