"""Keys of a table that are other ones again and again: counted, measured, or the identity of an object."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Binding, Function, targets_of
from tenure.syntax.program.keeping import BY_NAME, Keep, name_set_by, paired
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import children
from tenure.syntax.text.value_parts import bound_names, is_made_up

_COUNTING = re.compile(
    r"(^|_)(step|steps|batch|round|trial|iteration|iter|it|number|num|count|counter|ticket|epoch|idx|index|batch_idx|uid"
    r"|timestep|frame|episode|file|filename|path|url|uri|request_id|offset|start|timestamp|time|day|date|hour|uuid|prompt|caption|sentence|query|queries|question|text|token|length|len|size|shape|height|width|seq_len|seqlen|scene)s?$"
)
_OF_STEPS = re.compile(r"(^|_)(step|iteration|iter|it|batch_idx|batch_number|epoch|round|trial)s?$")
_OPEN_CALLS = frozenset(
    {"id", "data_ptr", "size", "next", "len", "map", "hash", "uuid4", "time", "numel", "tobytes", "hexdigest"}
    | {"digest", "time_ns", "perf_counter", "monotonic", "tolist", "join", "randint", "random", "count_nonzero"}
)
_AS_DIFFERENT = frozenset({"str", "repr", "tuple", "frozenset", "sorted", "int", "round", "bytes", "encode", "strip"})
"""Calls that give other results for other arguments."""
_MAKING_KEYS = re.compile(r"_*((make|get|build|cache|hash)_?)*(key|hash)(_?(fn|func|function|of|for|by|maker|from))?")
"""Functions that make a key of what they are given, by their names."""
_OF_DATA = re.compile(
    r"(^|_)(sample|image|img|video|clip|user|item|doc|document|session|request|example|record|row|patient|molecule|mol"
    r"|graph|scene|track|frame|query|entity|conversation|utterance|episode|trajectory)_?(id|key)s?$"
    r"|^(sample|user|patient|molecule|utterance|conversation|session|document|request|video|clip)$"
    r"|^(ids|line|word|words|smiles|formula|molecule|duration|sequence)$"
)
"""What tells one of the data from another."""


def is_open_key(program: Program, keep: Keep, function: Function) -> bool:
    """Whether a key is another one again and again: counted, measured, or the identity of an object."""
    pair = pair_of(keep)
    if pair is not None:
        return not isinstance(pair.elts[0], ast.Name) and _is_open(program, pair.elts[0], function, 0)
    if isinstance(keep.node, ast.AugAssign) and _dict_of(keep) is None:  # table |= made(keys)
        given = keep.value.args if isinstance(keep.value, ast.Call) else [keep.value]
        return any(_is_open(program, each, function, 0) for each in given)
    key = key_of(keep)
    return key is not None and _is_open(program, key, function, 0)


def is_step_number(key: ast.expr | None) -> bool:
    """Whether a key, or a part of it, has the name of a number that only rises: `step`, `(name, self.global_step)`."""
    names = (getattr(each, "attr", "") or getattr(each, "id", "") for each in ast.walk(key)) if key is not None else ()
    return any(_OF_STEPS.search(name) for name in names)


def _is_open(program: Program, key: ast.expr, function: Function, depth: int) -> bool:
    for node in _unwrapped(key):
        if isinstance(node, ast.Call) and called_name(node) in _OPEN_CALLS:
            return True
        called = program.called_by(node, function) if isinstance(node, ast.Call) and depth < 2 else None
        if called is not None and called.class_name:
            given_back = (each.value for each in called.returns if each.value is not None)
            if any(_is_open(program, value, called, depth + 2) for value in given_back):
                return True
        if isinstance(node, ast.Attribute) and (node.attr == "shape" or _says_open(node.attr) or _is_id(node)):
            return True
        if isinstance(node, ast.Attribute) and _is_counted_up(dotted(node), function):
            return True
        named = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
        if named == "id" or _says_open(named):
            return True
        if isinstance(node, ast.Call) and called_name(node) in ("item", "int") and _is_reckoned(node):
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if _is_given_one_constant(program, node.id, function):
                continue
            bound = [each.value for each in function.bindings if node.id in _names_bound(each)]
            bound += [each for _, each in function.bound.get(node.id, ()) if _is_given(each, function)]
            bound += _listed(node.id, function)
            if depth < 3 and any(
                value is not None and _is_open(program, value, function, depth + 1) for value in bound
            ):
                return True
            if all(map(_is_taken_in, bound)) and (not isinstance(key, ast.Call) or _tells_apart(key)):
                if _says_open(node.id) or _takes_the_rest(node.id, function) or _has_open_parts(node.id, function):
                    return True
                if depth < 3 and node.id in function.parameters and _is_given_open(program, node.id, function, depth):
                    return True
    return False


def _unwrapped(key: ast.expr) -> Iterator[ast.AST]:
    """A key and its parts, but nothing of a remainder that comes round after a few: `step % 4`."""
    waiting: list[ast.AST] = [key]
    while waiting:
        node = waiting.pop()
        if not _comes_round(node):
            yield node
            waiting += children(node)


def _comes_round(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.right, ast.Constant)


def _tells_apart(call: ast.Call) -> bool:
    """Whether a call gives other results for other arguments, by its name."""
    return called_name(call) in _AS_DIFFERENT or bool(_MAKING_KEYS.fullmatch(called_name(call)))


def _is_id(node: ast.Attribute) -> bool:
    """`sample.id`, of what a loop goes through or a function is given."""
    return node.attr == "id" and isinstance(node.value, ast.Name) and node.value.id not in ("self", "cls")


def _is_counted_up(name: str, function: Function) -> bool:
    """Whether methods add to an attribute, and none but the first sets it back."""
    if not name.startswith("self.") or function.owner is None:
        return False
    bound = [
        (binding, each)
        for each in function.owner.functions
        for binding in each.bindings
        if any(dotted(target) == name for target in targets_of(binding))
    ]
    adds = [each for each, _ in bound if isinstance(each, ast.AugAssign) and isinstance(each.op, ast.Add)]
    sets = [where for each, where in bound if each not in adds]
    return any(isinstance(each.value, ast.Constant) for each in adds) and all(
        where.name in ("__init__", "__post_init__") for where in sets
    )


def _is_reckoned(call: ast.Call) -> bool:
    """`int((x > 0).sum())`, `lengths.max().item()`: a number that data decides."""
    inner = call.func.value if isinstance(call.func, ast.Attribute) else call.args[0] if call.args else None
    return isinstance(inner, ast.Call) and called_name(inner) in ("sum", "max", "count_nonzero") and not inner.args


def _listed(name: str, function: Function) -> list[ast.expr]:
    """`sigmas.tolist()` of `for sigma in sigmas.tolist()`, in a loop or a comprehension."""
    loops = [(each.target, each.iter) for each in function.loops if not isinstance(each, ast.While)]
    loops += [(each.target, each.iter) for one in function.comprehensions for each in one.generators]
    return [
        iterated
        for target, iterated in loops
        if name in bound_names(target) and isinstance(iterated, ast.Call) and called_name(iterated) == "tolist"
    ]


def _is_taken_in(value: ast.expr | None) -> bool:
    """Whether a value comes from a queue or the like, so that only its name says what it is."""
    return isinstance(value, ast.Await) or (
        isinstance(value, ast.Call) and called_name(value) in ("get_nowait", "recv")
    )


def _is_given(node: ast.expr, function: Function) -> bool:
    return isinstance(node, ast.Name) and node.id in function.parameters


def _says_open(name: object) -> bool:
    return isinstance(name, str) and bool(_COUNTING.search(name) or _OF_DATA.search(name))


def _has_open_parts(name: str, function: Function) -> bool:
    """Whether a key is taken apart into what is counted or measured: `size, sigma = key`."""
    return any(
        _says_open(part)
        for part, bound in function.bound.items()
        for _, value in bound
        if isinstance(value, ast.Subscript) and is_made_up(value) and dotted(value.value) == name
    )


def _takes_the_rest(name: str, function: Function) -> bool:
    """Whether a name is that of `*args`: whatever the function is called with."""
    arguments = getattr(function.node, "args", None)
    return arguments is not None and arguments.vararg is not None and arguments.vararg.arg == name


def _names_bound(binding: Binding) -> set[str]:
    return {name for target in targets_of(binding) for name in bound_names(target)}


def _is_given_one_constant(program: Program, name: str, function: Function) -> bool:
    """Whether all calls that are known give a parameter numbers or texts that are written there."""
    calls = program.callers(function) if name in function.parameters else ()
    given = [list(given_to(name, function, call)) for _, call in calls[:8]]
    return bool(given) and all(len(each) == 1 and isinstance(each[0], ast.Constant) for each in given)


def _is_given_open(program: Program, name: str, function: Function, depth: int) -> bool:
    calls = [*program.callers(function)[:8], *program.forward_calls(function)[:8]]
    return any(
        _is_open(program, value, caller, depth + 1)
        for caller, call in calls
        for value in given_to(name, function, call)
        if caller is not function
    )


def pair_of(keep: Keep) -> ast.Tuple | None:
    """Key and value of `table.update((key, value) for ...)`."""
    is_update = isinstance(keep.node, ast.Call) and called_name(keep.node) == "update"
    pair = keep.value.elt if is_update and isinstance(keep.value, ast.GeneratorExp) else None
    return pair if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 else None


def _dict_of(keep: Keep) -> ast.Dict | None:
    """The dict that is written out in `table = {**table, key: value}` and `table = table | {key: value}`."""
    whole = keep.node.value if isinstance(keep.node, (ast.Assign, ast.AugAssign)) else None
    sides = [whole.left, whole.right] if isinstance(whole, ast.BinOp) else [whole]
    found = (each for each in sides if isinstance(each, ast.Dict))
    return next((each for each in found if any(part is keep.value for part in each.values)), None)


def key_of(keep: Keep) -> ast.expr | None:
    """The key of `table[key] = value`, `table.setdefault(key, value)` and `table.update({key: value})`."""
    if isinstance(keep.node, ast.Call) and called_name(keep.node) == "setdefault":
        return keep.node.args[0]
    if isinstance(keep.node, ast.Call) and keep.place.endswith(BY_NAME):
        return name_set_by(keep.node)
    if isinstance(keep.node, ast.Call) and called_name(keep.node) == "update" and pair_of(keep) is None:
        if (pairs := paired(keep.node)) is not None:
            return pairs[0]
        shown = keep.node.args[0]
        return shown.keys[0] if isinstance(shown, ast.Dict) and shown.keys else None
    merged = _dict_of(keep)
    if merged is not None:
        return next((key for key, part in zip(merged.keys, merged.values, strict=True) if part is keep.value), None)
    targets = keep.node.targets if isinstance(keep.node, ast.Assign) else []
    return next((each.slice for each in targets if isinstance(each, ast.Subscript)), None)
