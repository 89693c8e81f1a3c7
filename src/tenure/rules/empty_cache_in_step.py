"""TN501: the allocator gives its cache back to the device in each step, and asks for it again."""

import ast
from collections.abc import Iterator

from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.rules.source_claim import claim_source, told_by_source_alone
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.device_calls import empties_cache
from tenure.syntax.values.graph_values import backward_roots
from tenure.syntax.values.working_loops import works_in


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Calls in the body of a loop that trains or runs a module, or in a training step, on every turn."""
    for function in program.functions:
        for found in _find(program, function):
            yield claim_source(
                function,
                found,
                rule=RULE.code,
                name=RULE.name,
                message="every step gives the cache back and asks for it again; nothing that is in use is freed.",
                remedy="leave the call out; against fragments set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`",
            )


def _find(program: Program, function: Function) -> Iterator[ast.Call]:
    calls = [call for call in function.calls_of("empty_cache") if empties_cache(call)]
    if not calls:
        return
    for call in calls:
        working = [loop for loop in function.loops_around(call.lineno) if works_in(program, function, loop)]
        top = function.node.body if function.is_method and backward_roots(function) and not function.loops else ()
        bodies = [loop.body for loop in working[-1:]] + ([top] if top else [])
        if any(_is_statement_of(call, body) for body in bodies):
            yield call


def _is_statement_of(call: ast.Call, body: list[ast.stmt]) -> bool:
    """Whether it runs on every turn: under no condition."""
    return any(isinstance(each, ast.Expr) and each.value is call for each in body)


RULE = Rule(
    code="TN501",
    name="empty-cache-in-step",
    summary="The caching allocator is emptied in every step, which frees nothing that is in use and costs time.",
    check_suspect=told_by_source_alone,
    check_source=check_source,
)
