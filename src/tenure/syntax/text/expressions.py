"""What an expression is at sight: the container it names, the namespace it opens, the kind of value it makes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tenure.syntax.text.scopes import COMPREHENSION_NAMES, FunctionNode, dotted

_EMPTY_CALLS = frozenset(
    {"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter", "tuple"}
    | {"Queue", "SimpleQueue", "LifoQueue", "PriorityQueue", "JoinableQueue"}
)


def split_receiver(node: ast.AST) -> tuple[str, str]:
    """(`self`, `history`) of `self.history[k]`, `self.history.setdefault(k, [])` and the like; ("", "") if none."""
    while True:
        if isinstance(node, (ast.Subscript, ast.Starred)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("setdefault", "get", "values", "items"):
                node = node.func.value
            else:
                return "", ""
        elif isinstance(node, ast.Call) and dotted(node.func) in ("getattr",) and len(node.args) >= 2:
            name = getattr(node.args[1], "value", "")
            return (text_of(node.args[0]), name) if isinstance(name, str) else ("", "")
        elif isinstance(node, ast.Name):
            return "", node.id
        elif isinstance(node, ast.Attribute):
            return text_of(node.value), node.attr
        else:
            return "", ""


def place_of(container: ast.expr) -> str:
    """What an entry is put into, as text without keys: `self.rows` of `self.rows[k]` and of
    `self.rows.setdefault(k, {})`; "" of anything else."""
    text = dotted(container).replace("[]", "")
    if text or not isinstance(container, ast.Call) or called_name(container) != "setdefault":
        return text
    receiver, name = split_receiver(container)
    return f"{receiver}.{name}" if receiver and name else name


def called_name(call: ast.Call) -> str:
    """The last name of what is called: `append` of `self.history.append(x)`; "" where it has none."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def makes_an_object(call: ast.Call) -> bool:
    """Whether what is called goes by the name of a class, or is the class that a class method was given."""
    name = called_name(call)
    return name == "cls" or name.lstrip("_")[:1].isupper()


def text_of(node: ast.expr) -> str:
    """An expression as a short receiver: `self.net`, `type(self)`, `make()`; "..." where nothing says more."""
    text = dotted(node)
    if text:
        return text
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        if name in ("type", "super", "vars") and node.args:
            return f"{name}({dotted(node.args[0])})"
        return f"{name or '...'}()"
    if isinstance(node, ast.Attribute):
        return f"{text_of(node.value)}.{node.attr}"
    if isinstance(node, ast.Subscript):
        return f"{text_of(node.value)}[]"
    return "..."


def namespace_of(node: ast.expr) -> str | None:
    """`self` of `self.__dict__` and `vars(self)`, "" of `globals()`, None for other containers."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return text_of(node.value)
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        if name == "vars" and node.args:
            return text_of(node.args[0])
        if name == "globals":
            return ""
    return None


def all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    """A function's parameters, in whichever way they are given."""
    plain = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [*plain, *filter(None, (arguments.vararg, arguments.kwarg))]


def parameters_by_place(function: FunctionNode) -> list[str]:
    """Names of the parameters that a call may give by place, `self` and `cls` left out."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def value_kind(node: ast.AST | None) -> str:
    """What a value is at sight: none, constant, empty, display, comprehension, call, other; "" without value.

    A container of nothing but empty containers is empty.
    """
    if node is None:
        return ""
    if isinstance(node, ast.Constant):
        return "none" if node.value is None else "constant"
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return "constant"
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return "empty" if _are_empty(node.elts) else "display"
    if isinstance(node, ast.Dict):
        return "empty" if _are_empty(node.values) else "display"
    if isinstance(node, (ast.ListComp, ast.DictComp)):
        part = node.elt if isinstance(node, ast.ListComp) else node.value
        return "empty" if part is not None and _are_empty([part]) else "comprehension"
    if type(node) in COMPREHENSION_NAMES:
        return "comprehension"
    if isinstance(node, ast.Call):
        return _call_kind(node)
    return "other"


def _are_empty(parts: Iterable[ast.expr]) -> bool:
    """Whether all parts of a container are empty containers themselves: `{"loss": [], "accuracy": []}`."""
    return all(value_kind(part) == "empty" for part in parts)


def _call_kind(node: ast.Call) -> str:
    name = dotted(node.func).rpartition(".")[2]
    if name in _EMPTY_CALLS:
        # deque(maxlen=8) and defaultdict(list) hold nothing yet
        contents = [item for item in node.args if value_kind(item) not in ("none", "constant", "empty")]
        if not contents or name == "defaultdict":
            return "empty"
    if name == "field":
        return "empty"
    return "call"


def target_pairs(target: ast.Tuple | ast.List, value: ast.expr | None) -> list[tuple[ast.expr, ast.expr | None]]:
    """Each target with its own part of the value where both are displays of the same shape."""
    if (
        isinstance(value, (ast.Tuple, ast.List))
        and len(value.elts) == len(target.elts)
        and not any(isinstance(item, ast.Starred) for item in (*value.elts, *target.elts))
    ):
        return list(zip(target.elts, value.elts, strict=True))
    return [(item, value) for item in target.elts]


def assigned_parts(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr | None]]:
    """What is assigned to, each with its own value; None for those of a value that is taken apart."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return [(target, value)]
    return [(part, None if own is value else own) for part, own in target_pairs(target, value)]
