"""What fairseq's criteria hand to its trainer for its log, which keeps it from batch to batch until it is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.kept.kept_graphs import KeptGraph
from tenure.syntax.program.functions import Function, targets_of
from tenure.syntax.program.keeping import Keep
from tenure.syntax.program.program import Program
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.mentions import mentions
from tenure.syntax.text.scopes import dotted
from tenure.syntax.values.tensor_values import tensor_values


def find_logged(program: Program) -> Iterator[KeptGraph]:
    """Entries with their graphs of the table that a criterion's `forward` gives back third."""
    for function in program.functions:
        if function.name == "forward" and _is_criterion(program, function):
            for value, node in _logged_in(function):
                if tensor_values(program).kind(value, function) is Kind.GRAPH:
                    yield KeptGraph(function, Keep("element", "logging_output", value, node), is_loss=True)


def _is_criterion(program: Program, function: Function) -> bool:
    """Whether a class is one of fairseq's, or below one of the program's that is."""
    if function.owner is None or not any(mentions(function.source, each) for each in ("fairseq", "unicore")):
        return False
    above = program.relatives(function.owner)
    return any(base.rpartition(".")[2].endswith(("Criterion", "Loss")) for each in above for base in each.bases)


def _logged_in(function: Function) -> Iterator[tuple[ast.expr, ast.expr | ast.stmt]]:
    """Values of the table, each with the node that stands for it."""
    tables = [each.value.elts[2] for each in function.returns if _gives_three(each)]  # type: ignore[union-attr]
    names = {dotted(each) for each in tables} - {""}
    shown = [each for each in tables if isinstance(each, ast.Dict)]
    shown += [value for name in names for _, value in function.bound.get(name, ()) if isinstance(value, ast.Dict)]
    for each in shown:
        yield from ((value, value) for value in each.values)
    for binding in function.bindings:
        for target in targets_of(binding):
            if isinstance(target, ast.Subscript) and dotted(target.value) in names and binding.value is not None:
                yield binding.value, binding


def _gives_three(given: ast.Return) -> bool:
    return isinstance(given.value, ast.Tuple) and len(given.value.elts) == 3
