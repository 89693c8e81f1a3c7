"""TN104: `backward(create_graph=True)` leaves gradients that carry a graph, which leads back to their parameters."""

import ast
from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim
from tenure.rules.source_claim import claim_source
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.kinds import Kind
from tenure.syntax.values.gradient_rings import (
    callers_drop_gradients,
    drops_gradients,
    forgets_gradients,
    may_make_graph,
)
from tenure.syntax.values.graph_values import backward_root
from tenure.syntax.values.tensor_values import tensor_values


def check_suspect(suspect: Suspect) -> Finding | None:
    """The path (or ring) goes from a leaf to its gradient and from there into a graph."""
    kinds = [hop.kind for hop in suspect.path]
    around = zip(kinds, kinds[1:] + (kinds[:1] if suspect.cyclic else []), strict=False)
    if ("GRAD", "GRAD_FN") not in around:
        return None
    rate = suspect.growth_bytes_per_step
    size = f"{format_bytes(rate)} per step" if rate else format_bytes(suspect.retained_bytes)
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"A gradient that was made with `create_graph=True` keeps the graph of its own backward: {size}.",
        remedies=(
            "ask for such gradients by `torch.autograd.grad(..., create_graph=True)`, which stores none; or set "
            "`.grad = None` (`zero_grad(set_to_none=True)`) of every parameter before the step ends",
        ),
    )


def check_source(program: Program) -> Iterator[SourceFinding]:
    """`loss.backward(create_graph=True)`: each gradient leads to the graph that made it, and that to the parameter."""
    forgets = any(map(forgets_gradients, program.functions))
    for function in program.functions:
        yield from () if forgets else _set(program, function)
        for call in function.calls_of("backward", "manual_backward"):
            root = backward_root(call)
            if root is None or not may_make_graph(program, call, function):
                continue
            is_of_inputs = any(each.arg == "inputs" for each in call.keywords)
            if not drops_gradients(program, function, call) and (
                is_of_inputs or not callers_drop_gradients(program, function)
            ):
                yield claim_source(
                    function,
                    call,
                    rule=RULE.code,
                    name=RULE.name,
                    message="`backward(create_graph=True)` stores gradients that lead to their own graph, in a ring "
                    "with their parameters.",
                    remedy="ask for such gradients by `torch.autograd.grad(..., create_graph=True)`, which stores none",
                )


def _set(program: Program, function: Function) -> Iterator[SourceFinding]:
    """`parameter.grad = gradient` of one that was made with a graph."""
    for binding in function.bindings:
        sets = isinstance(binding, ast.Assign) and any(getattr(each, "attr", "") == "grad" for each in binding.targets)
        if not sets or binding.value is None or drops_gradients(program, function, binding):
            continue
        if tensor_values(program).kind(binding.value, function) is Kind.GRAPH:
            yield claim_source(
                function,
                binding,
                rule=RULE.code,
                name=RULE.name,
                message="a gradient that leads to its own graph is stored, in a ring with its parameter.",
                remedy="store `gradient.detach()`, or use it without storing it",
            )


RULE = Rule(
    code="TN104",
    name="gradient-graph-cycle",
    summary="Gradients made with create_graph=True hold the graph that made them, in a ring with their parameters.",
    check_suspect=check_suspect,
    priority=9,
    edit="zero-grad",
    check_source=check_source,
)
