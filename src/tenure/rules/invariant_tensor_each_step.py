"""TN504: a tensor is made anew in each step, with the same values each time."""

import ast
from collections.abc import Iterator

from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.rules.made_on_host_each_step import is_moved
from tenure.rules.source_claim import claim_source, told_by_source_alone
from tenure.syntax.kept.invariant_tensors import find_invariant_tensors
from tenure.syntax.program.program import Program


def check_source(program: Program) -> Iterator[SourceFinding]:
    """`torch.arange(n)` and its kin in a loop that trains or runs a module, where nothing changes or keeps them."""
    for each in find_invariant_tensors(program):
        if not is_moved(each.function, each.call):
            yield claim_source(
                each.function,
                each.call,
                rule=RULE.code,
                name=RULE.name,
                message=f"`{ast.unparse(each.call)}` makes the same tensor again in every turn of the loop.",
                remedy="make it once, before the loop",
            )


RULE = Rule(
    code="TN504",
    name="invariant-tensor-each-step",
    summary="A tensor is made anew in each step, with the same values each time.",
    check_suspect=told_by_source_alone,
    check_source=check_source,
)
