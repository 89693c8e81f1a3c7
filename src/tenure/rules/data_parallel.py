"""TN406: one process drives all devices, and the first of them holds what the others need not."""

import ast
from collections.abc import Iterator

from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.rules.source_claim import claim_source, told_by_source_alone
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.scopes import dotted


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Calls of `nn.DataParallel`."""
    for function in program.functions:
        for found in _find(function):
            yield claim_source(
                function,
                found,
                rule=RULE.code,
                name=RULE.name,
                message="each forward copies the module to all devices, and outputs and gradients meet on the first.",
                remedy="use `torch.nn.parallel.DistributedDataParallel`, one process for each device",
            )


def _find(function: Function) -> Iterator[ast.Call]:
    for call in function.calls_of("DataParallel"):
        if dotted(call.func).removeprefix("torch.") in ("nn.DataParallel", "DataParallel", "nn.parallel.DataParallel"):
            yield call


RULE = Rule(
    code="TN406",
    name="data-parallel",
    summary="DataParallel copies the module to each device in every forward and gathers all outputs on the first one.",
    check_suspect=told_by_source_alone,
    check_source=check_source,
)
