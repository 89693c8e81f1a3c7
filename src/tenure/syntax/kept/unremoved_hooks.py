"""Hooks that a program registers again and again and never removes: no handle, a lost handle, or one nobody uses."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.syntax.kept.hooked_again import is_hooked_again
from tenure.syntax.program.functions import Function, targets_of
from tenure.syntax.program.lifetimes import INITIALISERS
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import is_never_called
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk

_OF_MODULES = frozenset(
    f"register_{kind}"
    for kind in (
        *("forward_hook", "forward_pre_hook", "full_backward_hook", "full_backward_pre_hook", "backward_hook"),
        *("module_forward_hook", "module_forward_pre_hook", "module_full_backward_hook"),
        *("step_post_hook", "step_pre_hook", "post_accumulate_grad_hook"),
        *("state_dict_pre_hook", "state_dict_post_hook", "load_state_dict_pre_hook", "load_state_dict_post_hook"),
    )
)
_PARAMETER = re.compile(r"(^|_)(weight|weights|bias|param|parameter|p)$")
"""What a hook of a tensor stays on: activations go, parameters do not."""


@dataclass(frozen=True)
class LeftHook:
    """`call` registers; `why` says what becomes of the handle: "thrown away", "overwritten", "never removed"."""

    function: Function
    call: ast.Call
    why: str


def find_left_hooks(program: Program) -> Iterator[LeftHook]:
    """All of a program. Costs a walk over the functions that register something, and no other."""
    registering = [
        (function, call)
        for function in program.functions
        for call in function.calls_of(*_OF_MODULES, "register_hook")
        if _registers(call)
    ]
    removing = {posixpath.dirname(function.source.path): set[str]() for function, _ in registering}
    for function in program.functions if registering else ():
        if is_never_called(program, function):
            continue
        removed = removing.get(posixpath.dirname(function.source.path))
        if removed is not None:
            removed |= set(_removed_in(function))
    for function, call in registering:
        why = _why(program, function, call, removing[posixpath.dirname(function.source.path)])
        if why:
            yield LeftHook(function, call, why)


def _removed_in(function: Function) -> Iterator[str]:
    """Last names of what a function calls `remove()` of, and of tables of hooks that it clears; "?" for what has none,
    or where the method is handed on."""
    for call in function.calls_of("remove"):
        if not call.args and isinstance(call.func, ast.Attribute):
            yield dotted(call.func.value).replace("[]", "").rpartition(".")[2] or "?"
    for call in function.calls_of("clear"):
        name = dotted(call.func.value).rpartition(".")[2] if isinstance(call.func, ast.Attribute) else ""
        if name.startswith("_") and name.endswith("_hooks"):
            yield name
    for call in function.calls:
        if any(isinstance(each, ast.Attribute) and each.attr == "remove" for each in call.args):
            yield "?"


def _registers(call: ast.Call) -> bool:
    name = called_name(call)
    if name == "register_hook" and isinstance(call.func, ast.Attribute):
        return bool(_PARAMETER.search(dotted(call.func.value).replace("[]", "").rpartition(".")[2]))
    return name in _OF_MODULES


def _why(program: Program, function: Function, call: ast.Call, removed: set[str]) -> str:
    if any(each.startswith("_") and each.endswith("_hooks") for each in removed):
        return ""
    kind, target = _use(function, call)
    if kind == "name" and "." in target and "[]" not in target and function.loops_around(call.lineno):
        return "overwritten by the next"
    if any(item.context_expr is call for each in function.withs for item in each.items):
        return ""
    nobody_asks = _is_never_told_to_remove(program, function)
    is_first = function.name in INITIALISERS - {"__enter__"}
    if is_first and kind != "thrown" and not nobody_asks and (removed or _has_way_out(function)):
        return ""
    entered = function.name == "__enter__" and not removed
    if not entered and not is_hooked_again(program, function, call):
        return ""
    if kind == "thrown":
        return "thrown away"
    return "never used to remove it" if nobody_asks or not removed else ""


def _is_never_told_to_remove(program: Program, function: Function) -> bool:
    """Whether the class removes its hooks in methods that the program, which makes its objects, never calls."""
    removing = [each for each in function.owner.functions if each.calls_of("remove")] if function.owner else []
    return bool(removing) and all(is_never_called(program, each) for each in removing)


def _has_way_out(function: Function) -> bool:
    """Whether the class removes any hook, even where nobody seems to call that."""
    return function.owner is None or any(each.calls_of("remove") for each in function.owner.functions)


def _use(function: Function, call: ast.Call) -> tuple[str, str]:
    """What becomes of the handle: "thrown", "name" with where it goes, or "" for anything else."""
    for node in walk(function.node):
        if isinstance(node, ast.Expr) and node.value is call:
            return "thrown", ""
        if isinstance(node, ast.Assign) and node.value is call:
            return "name", dotted(targets_of(node)[0])
    return "", ""
