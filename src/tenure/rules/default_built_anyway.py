"""TN206: `setdefault`, or `self.x = getattr(self, "x", ...)`, is given a tensor or module that is built whether or not
there is one."""

import ast
import dataclasses
from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import BUILT_ANYWAY, Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim
from tenure.rules.source_claim import claim_source
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.values.tensor_values import tensor_values

NOTABLE_SHARE = 0.10
"""Of the peak. What takes less off it is a hint."""
_LOOK_FIRST = "if key not in table: table[key] = build()"


def check_suspect(suspect: Suspect) -> Finding | None:
    """A default that the profiled steps built and dropped unused, at their peak."""
    built = suspect.facts.get(BUILT_ANYWAY)
    if built is None:
        return None
    finding = claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`{built}` is built in each step though `{suspect.holder.expression}` has it already, and dropped "
        f"unused: {format_bytes(suspect.retained_bytes)} at the peak.",
        remedies=(f"look first: `{_LOOK_FIRST}`",),
    )
    notable = (suspect.peak_drop_bytes or 0) >= NOTABLE_SHARE * (suspect.peak_bytes or 0)
    return dataclasses.replace(finding, confidence="certain" if notable else "possible")


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Defaults that are tensors or modules made for the call."""
    for function in program.functions:
        for call, there, remedy in (*_of_keys(function), *_of_attributes(function)):
            made = call.args[-1]
            if isinstance(made, ast.Call) and _builds(program, function, made):
                yield claim_source(
                    function,
                    call,
                    rule=RULE.code,
                    name=RULE.name,
                    message=f"`{ast.unparse(made)[:40]}` is built on every call, also where the {there} is there.",
                    remedy=f"look first: `{remedy}`",
                )


def _of_keys(function: Function) -> Iterator[tuple[ast.Call, str, str]]:
    """Calls of `setdefault`, what they ask for, and what to write instead."""
    for call in function.calls_of("setdefault"):
        if len(call.args) == 2:
            yield call, "key", _LOOK_FIRST


def _of_attributes(function: Function) -> Iterator[tuple[ast.Call, str, str]]:
    """`self.x = getattr(self, "x", build())`."""
    for call in function.calls_of("getattr"):
        if len(call.args) == 3 and isinstance(call.args[1], ast.Constant):
            owner, attribute = dotted(call.args[0]), str(call.args[1].value)
            name = f"{owner}.{attribute}"
            if owner and any(value is call for _, value in function.bound.get(name, ())):
                yield call, "attribute", f'if not hasattr({owner}, "{attribute}"): {name} = build()'


def _builds(program: Program, function: Function, made: ast.Call) -> bool:
    if dotted(made.func).startswith(("nn.", "torch.nn.")) or _makes_tensors(program, made, function):
        return True
    is_read = called_name(made) in ("get", "pop", "getattr")
    return not is_read and bool(tensor_values(program).kind(made, function))


def _makes_tensors(program: Program, made: ast.Call, function: Function) -> bool:
    """Whether a call makes an object of a class of the program that is a module, or that calls torch for a tensor to
    keep when it is made."""
    cls = program.names.class_of(name, function.source) if (name := dotted(made.func)) else None
    if cls is None:
        return False
    if program.is_module_class(cls.node.name, cls.source):
        return True
    init = program.method_of(cls, "__init__")
    kept = (value for name, them in init.bound.items() if name.startswith("self.") for _, value in them) if init else ()
    return init is not None and any(
        isinstance(value, ast.Call)
        and dotted(value.func).startswith("torch.")
        and tensor_values(program).kind(value, init) is not None
        for value in kept
    )


RULE = Rule(
    code="TN206",
    name="default-built-anyway",
    summary='setdefault(key, build()) and getattr(self, "x", build()) build a default on every call, needed or not.',
    check_suspect=check_suspect,
    priority=12,
    check_source=check_source,
)
