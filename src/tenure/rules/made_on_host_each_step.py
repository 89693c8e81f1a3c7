"""TN503: a tensor is made on the CPU and copied to the device in each step."""

import ast
from collections.abc import Iterator

from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.rules.source_claim import claim_source, told_by_source_alone
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.scopes import dotted
from tenure.syntax.values.working_loops import works_in

_CREATING = ("zeros", "ones", "full", "arange", "eye", "rand", "randn", "empty", "linspace", "randint")
_MAKERS = frozenset(f"torch.{name}" for name in _CREATING)


def check_source(program: Program) -> Iterator[SourceFinding]:
    """`torch.zeros(...).to(device)` and its kin in a loop that trains or runs a module."""
    for function in program.functions:
        for found in _find(program, function):
            yield claim_source(
                function,
                found,
                rule=RULE.code,
                name=RULE.name,
                message="the tensor is made on the CPU and copied to the device in every step.",
                remedy="make it there: `torch.zeros(..., device=device)`",
            )


def is_moved(function: Function, made: ast.Call) -> bool:
    """Whether a call makes a tensor that is copied to the device at once."""
    return any(
        _is_copied(call) and isinstance(call.func, ast.Attribute) and call.func.value is made
        for call in function.calls_of("to", "cuda")
    )


def _find(program: Program, function: Function) -> Iterator[ast.Call]:
    for call in function.calls_of("to", "cuda"):
        if _is_copied(call) and any(works_in(program, function, each) for each in function.loops_around(call.lineno)):
            yield call


def _is_copied(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("to", "cuda"):
        return False
    made = call.func.value
    if not isinstance(made, ast.Call) or dotted(made.func) not in _MAKERS:
        return False
    named = {each.arg for each in made.keywords}
    return not named & {"device", "generator", "pin_memory"} and (call.func.attr == "cuda" or _names_device(call))


def _names_device(call: ast.Call) -> bool:
    """Whether `.to(...)` moves, and does not only change the type."""
    given = [*call.args, *(each.value for each in call.keywords if each.arg == "device")]
    return any("device" in ast.unparse(each) or "cuda" in ast.unparse(each) for each in given)


RULE = Rule(
    code="TN503",
    name="made-on-host-each-step",
    summary="A tensor that a step needs is made on the CPU and copied, where it could be made on the device.",
    check_suspect=told_by_source_alone,
    check_source=check_source,
)
