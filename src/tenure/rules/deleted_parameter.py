"""TN306: `del` of a parameter takes away one name of several: the caller still has the object."""

import ast
from collections.abc import Iterator

from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.rules.source_claim import claim_source, told_by_source_alone
from tenure.syntax.program.functions import Function, targets_of
from tenure.syntax.program.program import Program
from tenure.syntax.text.device_calls import collects, empties_cache
from tenure.syntax.text.value_parts import bound_names


def check_source(program: Program) -> Iterator[SourceFinding]:
    """`del` of a parameter with `gc.collect()` or `empty_cache()` behind it, where callers give a name of theirs."""
    for function in program.functions:
        for found in _find(program, function):
            yield claim_source(
                function,
                found,
                rule=RULE.code,
                name=RULE.name,
                message=f"`{ast.unparse(found)}` takes away one name; the caller still holds the object.",
                remedy="let the caller delete its own name, or hand over what is to be freed: `function(take(holder))`",
            )


def _find(program: Program, function: Function) -> Iterator[ast.stmt]:
    for delete in function.deletes:
        names = [each.id for each in delete.targets if isinstance(each, ast.Name) and each.id in function.parameters]
        freed = any((collects(call) or empties_cache(call)) and call.lineno > delete.lineno for call in function.calls)
        bound = {name for each in function.bindings for target in targets_of(each) for name in bound_names(target)}
        if freed and names and not set(names) & bound and _is_held(program, function):
            yield delete


def _is_held(program: Program, function: Function) -> bool:
    """Whether the calls that are known give variables or attributes, and no new objects."""
    callers = program.callers(function)
    return bool(callers) and all(
        isinstance(each, (ast.Name, ast.Attribute, ast.Constant)) for _, call in callers for each in call.args
    )


RULE = Rule(
    code="TN306",
    name="deleted-parameter",
    summary="A function deletes its own parameter to free memory, while its caller still holds the object.",
    check_suspect=told_by_source_alone,
    check_source=check_source,
)
