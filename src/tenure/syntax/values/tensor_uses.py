"""Variables that a function uses as only tensors are used: what comes from a loader is known by nothing else."""

from __future__ import annotations

import ast
from weakref import WeakKeyDictionary

from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.values.graph_values import FUNCTIONALS, is_module_name, modules_of

_TORCH_TAKES = frozenset(
    {"matmul", "bmm", "mm", "relu", "sigmoid", "tanh", "softmax", "log_softmax", "isfinite", "isnan", "topk", "argmax"}
    | {"square", "clamp", "where", "gather", "index_select", "masked_select", "flatten", "norm", "logsumexp", "lerp"}
    | {"cdist", "roll", "flip", "fft", "rfft", "stft", "outer", "cumsum", "quantile", "bincount", "unique"}
)
_KNOWN: WeakKeyDictionary[Function, frozenset[str]] = WeakKeyDictionary()


def used_as_tensors(program: Program, function: Function) -> frozenset[str]:
    """Plain variables that the function hands to a module or a torch function."""
    if function not in _KNOWN:
        _KNOWN[function] = frozenset(name for call in function.calls for name in _tensors_of(program, call, function))
    return _KNOWN[function]


def _tensors_of(program: Program, call: ast.Call, function: Function) -> list[str]:
    name = called_name(call)
    given = [each.id for each in call.args if isinstance(each, ast.Name)]
    if not given:
        return []
    owner = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if owner in FUNCTIONALS:
        return given
    if owner == "torch":
        return given if name in _TORCH_TAKES else []
    called = dotted(call.func)
    is_module = called in modules_of(program, function) or (
        (called.startswith("self.") or "." not in called) and is_module_name(name)
    )
    return given if is_module and program.named_by(call, function) is None else []
