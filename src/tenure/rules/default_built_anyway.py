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
            is_module = dotted(made.func).startswith(("nn.", "torch.nn."))
            is_read = called_name(made) in ("get", "pop", "getattr")
            if is_module or (not is_read and tensor_values(program).kind(made, function)):
                yield call


RULE = Rule(
    code="TN206",
    name="default-built-anyway",
    summary="setdefault(key, build()) builds its default on every call, also where the key is there already.",
    check_suspect=told_by_source_alone,
    check_source=check_source,
)
