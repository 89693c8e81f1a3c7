"""What of a kept object or container is a tensor, and the text that detaches or copies just that.

A recording tells by which attributes and keys the tensor was reached; source tells where they came from.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.class_fields import fields_of_class, given_for, is_named_tuple
from tenure.syntax.edits.kept_values import (
    Kept,
    call_method,
    call_method_of_all,
    computes_on,
    each_of,
    ends_with_call,
    find_kept,
    part_of,
)
from tenure.syntax.edits.let_go import at_end
from tenure.syntax.edits.line_edits import insert_line, replace_expression
from tenure.syntax.edits.missing_imports import imports
from tenure.syntax.text.expressions import called_name, split_receiver
from tenure.syntax.text.file_nodes import nodes_in, nodes_of
from tenure.syntax.text.name_uses import begins_its_line, function_around, indent_of
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DICTS = ("dict", "defaultdict", "OrderedDict")
_SEQUENCES = ("list", "tuple")
_EMPTY = (*_DICTS, *_SEQUENCES, "deque", "field", "set")
"""Made to be filled elsewhere."""


def change_part(
    sources: Sequence[SourceFile], source: SourceFile, line: int, name: str, labels: Sequence[str], call: str
) -> tuple[Edit, ...]:
    """The edit that puts `call` (`.detach()`) behind what the statement on `line` puts into an object for `labels`.

    `labels` lead from what is kept to the tensor, as `.row` of an object that is made there (or a few lines above,
    under a name), by keyword, by its place among the fields or the arguments of the class.
    """
    value = part_kept(sources, source, line, name, labels)
    if value is None or not isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)):
        return ()
    if ends_with_call(value, "detach", "clone", "item") or (
        isinstance(value, ast.Call) and called_name(value) in _EMPTY
    ):
        return ()
    return call_method(source, value, call)


def part_kept(
    sources: Sequence[SourceFile], source: SourceFile, line: int, name: str, labels: Sequence[str]
) -> ast.expr | None:
    """What the statement on `line` puts into an object for `labels`, as above; None where that is not written there."""
    kept = find_kept(source, line, name)
    value = kept.value if kept is not None else None
    if isinstance(value, ast.List) and len(value.elts) == 1:  # of `xs += [x]`
        value = value.elts[0]
    if not labels or (isinstance(value, (ast.ListComp, ast.GeneratorExp)) and not labels[0].isdecimal()):
        value = each_of(value)
    for label in labels:
        value = _inner(sources, source, line, value, label)
    return value


def change_each_given(
    sources: Sequence[SourceFile], source: SourceFile, line: int, name: str, call: str
) -> tuple[Edit, ...]:
    """The edit that puts `call` behind each of the values that an object is made of on `line`: `Entry(*batch)` becomes
    `Entry(*(each.detach() for each in batch))`. None of an object that is given anything else."""
    value = part_kept(sources, source, line, name, ())
    given = value.args[0] if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords else None
    if not isinstance(given, ast.Starred) or isinstance(given.value, ast.GeneratorExp):
        return ()
    text = ast.get_source_segment(source.text, given.value)
    return replace_expression(source, given, f"*(each{call} for each in {text})")


def change_where_made(sources: Sequence[SourceFile], kind: str, label: str, call: str) -> tuple[Edit, ...]:
    """The edit that puts `call` behind what a class of the program is given for `label`, where it is made in one
    place."""
    given = given_for(sources, kind, label)
    return call_method(*given, call) if given is not None and not ends_with_call(given[1], "detach", "clone") else ()


def change_display(sources: Sequence[SourceFile], key: str, call: str) -> tuple[Edit, ...]:
    """The edit that puts `call` behind the value of a key (as `'scores'`), where one dictionary is written with it."""
    written = written_for(sources, key)
    if written is None or ends_with_call(written[1], "detach", "item"):
        return ()
    return call_method(*written, call)


def written_for(sources: Sequence[SourceFile], key: str) -> tuple[SourceFile, ast.expr] | None:
    """The value of a key (as `'scores'`), where one dictionary of the program is written with it."""
    found = [
        (source, value)
        for source in sources
        for node in nodes_of(source, ast.Dict)
        for at, value in zip(node.keys, node.values, strict=True)
        if isinstance(at, ast.Constant) and repr(at.value) == key
    ]
    return found[0] if len(found) == 1 and not isinstance(found[0][1], ast.Constant) else None


def change_keyword(sources: Sequence[SourceFile], keyword: str, call: str) -> tuple[Edit, ...]:
    """The edit that puts `call` behind what is given by a keyword, where one call of the program gives it: of
    `history.put(cost=cost)`, where `put` keeps whatever it is given by name."""
    found = [
        (source, each.value)
        for source in sources
        for node in walk(parse(source))
        if isinstance(node, ast.Call)
        for each in node.keywords
        if each.arg == keyword
    ]
    if len(found) != 1:
        return ()
    file, value = found[0]
    value = added_to_old(value) or value
    if isinstance(value, ast.Constant) or ends_with_call(value, "detach", "item"):
        return ()
    return call_method(file, value, call)


def change_added(sources: Sequence[SourceFile], name: str, call: str) -> tuple[Edit, ...]:
    """The edit that puts `call` behind what one statement of the program adds to a tuple or list that it makes anew
    under a key of the variable or attribute `name`: of `rows[key] = (*rows.get(key, ()), x)`."""
    found = [
        (source, value)
        for source in sources
        for node in nodes_in(source)
        if isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Subscript) and split_receiver(each)[1] == name for each in node.targets)
        and (value := added_to_old(node.value)) is not None
    ]
    return call_method(*found[0], call) if len(found) == 1 and not ends_with_call(found[0][1], "detach", "item") else ()


def added_to_old(value: ast.expr) -> ast.expr | None:
    """The one element of `(*old, x)` that is not unpacked there; None of any other display."""
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    added = [each for each in parts if not isinstance(each, ast.Starred)]
    return added[0] if len(added) == 1 and len(parts) > 1 else None


def detach_each(
    sources: Sequence[SourceFile], source: SourceFile, line: int, name: str, kinds: Sequence[str]
) -> tuple[Edit, ...]:
    """The edit that keeps a dict, list or (named) tuple of detached tensors for the one that is a variable so far.

    `kinds` are the types on the way from what is kept to the tensor, one of them here.
    """
    kept = find_kept(source, line, name)
    if kept is None or not isinstance(kept.value, (ast.Name, ast.Attribute)) or len(kinds) != 1:
        return ()
    value = dotted(kept.value)
    text = _each_detached(value, kinds[0])
    if not text and is_named_tuple(sources, kinds[0]):
        text = f"{value}._make(each.detach() for each in {value})"
    return replace_expression(source, kept.value, text) if text else ()


def detach_if_tensor(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit that detaches the variable which the statement on `line` keeps, where it is a tensor and no number."""
    kept = find_kept(source, line, name)
    if kept is None or not isinstance(kept.value, (ast.Name, ast.Attribute)) or not imports(source, "torch"):
        return ()
    text = dotted(kept.value)
    return replace_expression(source, kept.value, f"{text}.detach() if torch.is_tensor({text}) else {text}")


def detach_received(source: SourceFile, line: int) -> tuple[Edit, ...]:
    """The edit that detaches what the generator around `line` is sent: `x = (yield state).detach()`."""
    function = function_around(parse(source), [line])
    received = [
        node.value for node in walk(function) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Yield)
    ]
    if len(received) != 1 or not isinstance(function, _FUNCTIONS):
        return ()
    return replace_expression(source, received[0], f"({ast.get_source_segment(source.text, received[0])}).detach()")


def detach_at_end(source: SourceFile, line: int, name: str, kinds: Sequence[str]) -> tuple[Edit, ...]:
    """The edits by which the function around `line` detaches, when it ends, what it keeps under an attribute."""
    kept = find_kept(source, line, name)
    text = dotted(kept.target) if kept is not None else ""
    function = function_around(parse(source), [line])
    if "." not in text or "[" in text or not isinstance(function, _FUNCTIONS) or len(kinds) > 1:
        return ()
    detached = _each_detached(text, kinds[0]) if kinds else f"{text}.detach()"
    return at_end(source, function, f"{text} = {detached}") if detached else ()


def detach_old(source: SourceFile, line: int, name: str, kinds: Sequence[str] = ()) -> tuple[Edit, ...]:
    """The edit that detaches what an attribute or variable carries, in front of the statement that computes its next
    value: within a step its graph is whole, from step to step it is cut. `kinds` are the types on the way from it to
    the tensor: an LSTM carries a tuple."""
    kept = find_kept(source, line, name)
    text = dotted(kept.target) if kept is not None else ""
    if kept is None or not text or "[" in text or not begins_its_line(source, kept.statement) or len(kinds) > 1:
        return ()
    detached = _each_detached(text, kinds[0]) if kinds else f"{text}.detach()"
    if not detached:
        return ()
    indent = indent_of(source, kept.statement)
    carried = f"{indent}if {text} is not None:\n{indent}    {text} = {detached}"
    return insert_line(source, kept.statement.lineno, carried)


def detach_states_beside(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edits that detach all attributes which the function around `line` computes from their own former values, as
    running statistics: the graph of one reaches the others'. None where there is but one."""
    kept, function = find_kept(source, line, name), function_around(parse(source), [line])
    if kept is None or not isinstance(function, _FUNCTIONS) or not computes_on(kept):
        return ()
    found = (each for each in walk(function) if isinstance(each, ast.Assign) and len(each.targets) == 1)
    states = [each for each in found if computes_on(Kept(each, each.value, each.targets[0]))]
    return call_method_of_all(source, [each.value for each in states], ".detach()") if len(states) > 1 else ()


def _each_detached(text: str, kind: str) -> str:
    if kind in _DICTS:
        return f"{{key: each.detach() for key, each in {text}.items()}}"
    if kind == "list":
        return f"[each.detach() for each in {text}]"
    return f"tuple(each.detach() for each in {text})" if kind == "tuple" else ""


def _inner(
    sources: Sequence[SourceFile], source: SourceFile, line: int, value: ast.expr | None, label: str
) -> ast.expr | None:
    if isinstance(value, ast.Name):
        value = _made_at(source, line, value.id) or value
    found = part_of(value, [label]) if value is not None else None
    if found is None and isinstance(value, ast.Call) and is_named_tuple(sources, called_name(value)):
        label = (
            dict(enumerate(fields_of_class(sources, called_name(value)))).get(int(label), "")
            if label.isdecimal()
            else label
        )
        found = part_of(value, [label])
    if found is not None or not isinstance(value, ast.Call) or not label.isidentifier():
        return found
    fields = fields_of_class(sources, called_name(value))
    if label in fields and fields.index(label) < len(value.args):
        return value.args[fields.index(label)]
    return next((each for each in value.args if dotted(each).rpartition(".")[2] == label), None)


def _made_at(source: SourceFile, line: int, name: str) -> ast.expr | None:
    """The call that a function binds to a variable in one place, above `line`."""
    function = function_around(parse(source), [line])
    bound = [
        node
        for node in walk(function)
        if isinstance(node, ast.Assign) and any(dotted(target) == name for target in node.targets)
    ]
    one = bound[0] if len(bound) == 1 and bound[0].lineno < line else None
    return one.value if one is not None and isinstance(one.value, ast.Call) else None
