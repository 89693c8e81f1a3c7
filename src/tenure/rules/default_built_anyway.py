"""TN206: `setdefault` is given a tensor or module that is built whether or not the key is there."""

import ast
from collections.abc import Iterator

from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.rules.source_claim import claim_source, told_by_source_alone
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.values.tensor_values import tensor_values


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Defaults that are tensors or modules made for the call."""
    for function in program.functions:
        for found in _find(program, function):
            yield claim_source(
                function,
                found,
                rule=RULE.code,
                name=RULE.name,
                message=f"`{ast.unparse(found.args[1])[:40]}` is built on every call, also where the key is there.",
                remedy="look first: `if key not in table: table[key] = build()`",
            )


def _find(program: Program, function: Function) -> Iterator[ast.Call]:
    for call in function.calls_of("setdefault"):
        if len(call.args) == 2 and isinstance(call.args[1], ast.Call):
            made = call.args[1]
            is_module = dotted(made.func).startswith(("nn.", "torch.nn.")) or _makes_tensors(program, made, function)
            is_read = called_name(made) in ("get", "pop", "getattr")
            if is_module or (not is_read and tensor_values(program).kind(made, function)):
                yield call


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
    summary="setdefault(key, build()) builds its default on every call, also where the key is there already.",
    check_suspect=told_by_source_alone,
    check_source=check_source,
)
