"""TN108: an evaluation records graphs that nobody runs backward through."""

import ast
from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import EVALUATED_WITH_GRAPH, RETURNED, Suspect
from tenure.rules.claim import claim, plural, subject
from tenure.rules.source_claim import claim_source
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.scopes import dotted
from tenure.syntax.values.graph_values import backward_root
from tenure.syntax.values.without_graph import is_without_graph

_REMEDY = "run it under `torch.inference_mode()` or `torch.no_grad()`"
_LEFT_IN_TRAINING = f"{_REMEDY}, and call `eval()` first where dropout and batch norm are to rest"
_READ_LATER = "a generator or `map` that is made under it and read outside runs without it"


def check_suspect(suspect: Suspect) -> Finding | None:
    """Graphs that calls of a model record and no backward pass goes through: in evaluation mode where the training
    calls it in the other, in training mode more often than a step does, or at a profiled step's peak."""
    if EVALUATED_WITH_GRAPH not in suspect.facts:
        return None
    returned, mode = RETURNED in suspect.facts, suspect.facts[EVALUATED_WITH_GRAPH]
    called = f"called in {mode} mode" if mode else "called"
    holds = "its output holds" if returned else f"{subject(suspect)} {plural(suspect, 'holds', 'hold')}"
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"The model is {called} with autograd on, and {holds} its activations for a backward pass that never "
        "comes.",
        remedies=(_LEFT_IN_TRAINING if mode == "training" else _REMEDY if returned else f"{_REMEDY}; {_READ_LATER}",),
        at_most="likely",
    )


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Modules that a function sets to `eval()` and runs in a loop, without backward and with autograd on."""
    for function in program.functions:
        for found in _find(program, function):
            yield claim_source(
                function,
                found,
                rule=RULE.code,
                name=RULE.name,
                message=f"`{ast.unparse(found.func)}` evaluates with autograd on: each batch records a graph.",
                remedy=_REMEDY,
            )


def _find(program: Program, function: Function) -> Iterator[ast.Call]:
    modules = {
        dotted(call.func.value)
        for call in function.calls_of("eval")
        if isinstance(call.func, ast.Attribute) and not call.args
    } - {""}
    if not modules or any(_wants_gradients(call) for call in function.calls):
        return
    told: set[str] = set()
    for call in function.calls:
        name = dotted(call.func)
        is_run = name in modules - told and function.loops_around(call.lineno) and (call.args or call.keywords)
        if is_run and not is_without_graph(program, function, call):
            told.add(name)
            yield call


def _wants_gradients(call: ast.Call) -> bool:
    """Whether a function asks for gradients, or trains its module again later: then the mode says little."""
    name = dotted(call.func).rpartition(".")[2]
    is_training = name == "train" and not call.args
    return backward_root(call) is not None or name in ("grad", "requires_grad_", "jacobian", "hessian") or is_training


RULE = Rule(
    code="TN108",
    name="evaluation-with-graph",
    summary="A module in evaluation mode runs over data with autograd on, and each output holds a graph.",
    check_suspect=check_suspect,
    check_source=check_source,
)
