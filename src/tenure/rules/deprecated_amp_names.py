"""TN505: names of automatic mixed precision that torch has replaced."""

import ast
from collections.abc import Iterator

from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.rules.source_claim import claim_source, told_by_source_alone
from tenure.syntax.edits.amp_imports import old_device
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.mentions import mentions
from tenure.syntax.text.scopes import dotted


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Calls and imports of `torch.cuda.amp.autocast` and its kin, but in files that use the new name where torch has
    it."""
    for function in program.functions:
        for found in _find(function):
            yield _claim(function, found, ast.unparse(found.func))
        for statement in function.imports:
            device = old_device(statement)
            is_chosen = statement not in function.node.body  # by the version of torch, or by what is installed
            if device and not is_chosen and not mentions(function.source, "torch.amp"):
                yield _claim(function, statement, f"torch.{device}.amp")


def _claim(function: Function, node: ast.expr | ast.stmt, used: str) -> SourceFinding:
    return claim_source(
        function,
        node,
        rule=RULE.code,
        name=RULE.name,
        message=f"`{used}` is deprecated since torch 2.4.",
        remedy="use `torch.amp.autocast(device)`, `torch.amp.GradScaler(device)` and their kin",
    )


def _find(function: Function) -> Iterator[ast.Call]:
    for call in function.calls:
        name = dotted(call.func)
        if name.startswith(("torch.cuda.amp.", "torch.cpu.amp.", "cuda.amp.")):
            is_fallback = mentions(function.source, f"torch.amp.{name.rpartition('.')[2]}")
            if not is_fallback:
                yield call


RULE = Rule(
    code="TN505",
    name="deprecated-amp-names",
    summary="torch.cuda.amp and torch.cpu.amp are deprecated; torch.amp takes the device as an argument.",
    check_suspect=told_by_source_alone,
    check_source=check_source,
)
