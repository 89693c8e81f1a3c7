"""TN502: the allocator gives its cache back before the collector frees what could go with it."""

import ast
from collections.abc import Iterator

from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.rules.source_claim import claim_source, told_by_source_alone
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.device_calls import collects, empties_cache
from tenure.syntax.text.scopes import inner_bodies, statements


def check_source(program: Program) -> Iterator[SourceFinding]:
    """`empty_cache()` with `gc.collect()` right behind it, and no other `empty_cache()` after that."""
    for function in program.functions:
        for found in _find(function):
            yield claim_source(
                function,
                found,
                rule=RULE.code,
                name=RULE.name,
                message="what `gc.collect()` frees behind it stays reserved: the cache was emptied before.",
                remedy="collect first, then empty the cache",
            )


def _find(function: Function) -> Iterator[ast.Call]:
    if not any(map(empties_cache, function.calls_of("empty_cache"))):
        return
    tops = [function.node.body, *(body for node in statements(function.node.body) for body in inner_bodies(node))]
    for body in tops:
        calls = [node.value if isinstance(node, ast.Expr) else None for node in body]
        for first, second, *rest in ((*calls[at : at + 2], *calls[at + 2 : at + 3]) for at in range(len(calls) - 1)):
            if isinstance(first, ast.Call) and isinstance(second, ast.Call):
                again = rest and isinstance(rest[0], ast.Call) and empties_cache(rest[0])
                if empties_cache(first) and collects(second) and not again:
                    yield first


RULE = Rule(
    code="TN502",
    name="empty-cache-before-collect",
    summary="The cache is emptied before the garbage is collected, so that what the collector frees stays reserved.",
    check_suspect=told_by_source_alone,
    check_source=check_source,
)
