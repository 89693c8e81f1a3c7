"""What frameworks keep in the state objects that their handlers and callbacks are given: outputs, losses, batches."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

from tenure.syntax.program.arguments import annotation_of
from tenure.syntax.program.functions import Function
from tenure.syntax.program.hooked import functions_named
from tenure.syntax.program.program import Program
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.mentions import mentions
from tenure.syntax.text.scopes import dotted

_OF_ROLLOUTS = frozenset({"obs_tensor", "values", "log_probs", "actions_tensor", "terminal_value"})
"""Local variables of stable-baselines3's `collect_rollouts` that are tensors, all of them without a graph."""


def kind_of_state(node: ast.expr, function: Function) -> Kind | None:
    """What Composer's `state.outputs`, `state.loss` and `state.batch`, ignite's `engine.state.batch` and what
    `self.locals` of a stable-baselines3 callback has are; None of anything else."""
    if isinstance(node, ast.Subscript):
        is_local = dotted(node.value) == "self.locals" and _is_callback(function)
        return Kind.TENSOR if is_local and getattr(node.slice, "value", None) in _OF_ROLLOUTS else None
    if not isinstance(node, ast.Attribute):
        return None
    if node.attr == "batch" and isinstance(node.value, ast.Attribute) and node.value.attr == "state":
        return Kind.TENSOR if mentions(function.source, "ignite") else None
    if node.attr not in ("outputs", "loss", "batch") or not _is_composer_state(node.value, function):
        return None
    is_evaluated = node.attr == "batch" or function.name.startswith(("eval", "predict"))
    return Kind.TENSOR if is_evaluated else Kind.GRAPH


def is_trained_elsewhere(function: Function) -> bool:
    """Whether a function is a method that Composer calls while it trains."""
    return any(_is_composer_state(ast.Name(each), function) for each in function.parameters)


def is_output_of_engine(node: ast.expr) -> bool:
    """`engine.state.output`: what ignite's process function gave last."""
    return isinstance(node, ast.Attribute) and node.attr == "output" and dotted(node).endswith(".state.output")


@lru_cache(maxsize=1)
def process_functions(program: Program) -> Sequence[Function]:
    """What the program's ignite engines run for each batch: `Engine(train_step)`."""
    calls = [(call, function) for function in program.functions for call in function.calls_of("Engine") if call.args]
    return tuple(each for call, function in calls for each in functions_named(program, call.args[0], function))


def _is_composer_state(node: ast.expr, function: Function) -> bool:
    if (
        not isinstance(node, ast.Name)
        or node.id not in function.parameters
        or not mentions(function.source, "composer")
    ):
        return False
    annotation = annotation_of(node.id, function)
    return node.id == "state" if annotation is None else dotted(annotation).rpartition(".")[2] == "State"


def _is_callback(function: Function) -> bool:
    bases = function.owner.bases if function.owner is not None else ()
    return any(base.rpartition(".")[2].endswith("Callback") for base in bases)
