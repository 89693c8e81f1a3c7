"""TN407: gradients are filled with zeros instead of being let go."""

import ast
from collections.abc import Iterator

from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.rules.source_claim import claim_source, told_by_source_alone
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program


def check_source(program: Program) -> Iterator[SourceFinding]:
    """`zero_grad(set_to_none=False)`, as written."""
    for function in program.functions:
        for found in _find(function):
            yield claim_source(
                function,
                found,
                rule=RULE.code,
                name=RULE.name,
                message="gradients are filled with zeros and stay there through the next forward.",
                remedy="leave `set_to_none` at True: the memory is there for activations until backward needs it",
            )


def _find(function: Function) -> Iterator[ast.Call]:
    for call in function.calls_of("zero_grad"):
        given = [each.value for each in call.keywords if each.arg == "set_to_none"]
        keeps = any(isinstance(each, ast.Constant) and each.value is False for each in given)
        if keeps:
            yield call


RULE = Rule(
    code="TN407",
    name="gradients-zeroed-in-place",
    summary="zero_grad(set_to_none=False) keeps the memory of all gradients through the next forward.",
    check_suspect=told_by_source_alone,
    check_source=check_source,
)
