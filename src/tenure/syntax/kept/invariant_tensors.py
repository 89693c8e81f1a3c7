"""Tensors that each turn of a training loop makes anew with the same values, and only reads."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tenure.model.source import SourceFile
from tenure.syntax.program.functions import Function, targets_of
from tenure.syntax.program.lifetimes import INITIALISERS
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import LoopNode, dotted, parse
from tenure.syntax.text.tree_walks import children, walk
from tenure.syntax.values.only_read import is_only_read, parents_in
from tenure.syntax.values.working_loops import works_in

_MAKERS = (
    *("arange", "eye", "full", "linspace", "logspace", "ones", "tensor", "zeros"),
    *("tril_indices", "triu_indices", "hann_window", "hamming_window"),
)
_SAME_FOR_SAME = frozenset({"int", "float", "bool", "range", "tuple", "list", "max", "min", "abs", "round", "len"})
"""Functions whose result depends on nothing but their arguments."""
_FEW = 4096
_LIBRARIES = ("torch", "math", "np", "numpy")
_PLAIN = (ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.keyword, ast.operator, ast.unaryop)
_SOMETIMES = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.ExceptHandler, ast.Match, ast.NamedExpr, ast.Assert),
    *(ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
)
"""What stands around an expression that a turn may not come by, or comes by several times."""


@dataclass(frozen=True)
class InvariantTensor:
    """`call` makes the tensor, in the body of `loop`."""

    function: Function
    call: ast.Call
    loop: LoopNode


def find_invariant_tensors(program: Program) -> Iterator[InvariantTensor]:
    """All of a program: of loops that train or run a module, what is made on every turn, from what no turn changes."""
    for function in program.functions:
        for call in function.calls_of(*_MAKERS):
            loops = function.loops_around(call.lineno)
            if not loops or dotted(call.func) != f"torch.{called_name(call)}" or _is_special(call):
                continue
            loop = loops[-1]
            if (
                _is_same_in(loop, call, program, function)
                and _is_made_on_every_turn(call, loop, function)
                and is_only_read(program, function, call)
                and works_in(program, function, loop)
            ):
                yield InvariantTensor(function, call, loop)


def _is_special(call: ast.Call) -> bool:
    """Whether a call writes elsewhere, or makes a tensor that is trained, or one that is not worth a word."""
    named = {each.arg: getattr(each.value, "value", True) for each in call.keywords}
    if "out" in named or None in named or named.get("requires_grad", False) is not False:
        return True
    return "device" not in named and _is_small(call)


def _is_small(call: ast.Call) -> bool:
    """Whether a tensor has few elements, all of them, or their number, written out."""
    parts = [node for each in call.args for node in walk(each)]
    if any(isinstance(node, (ast.Name, ast.Attribute)) for node in parts):
        return False
    sizes = [abs(each) for node in parts if isinstance(each := getattr(node, "value", None), int)]
    return math.prod(max(1, each) for each in sizes) < _FEW or called_name(call) == "tensor"


def _is_same_in(loop: LoopNode, call: ast.Call, program: Program, function: Function) -> bool:
    """Whether the arguments are the same in each turn, as far as the text tells."""
    changed = _bound_in(loop) | _shared_in(function.source)
    takes_contents = called_name(call) == "tensor"
    waiting: list[tuple[ast.AST, bool]] = [(each, takes_contents) for each in (*call.args, *call.keywords)]
    while waiting:
        node, whole = waiting.pop()
        if isinstance(node, ast.Name):
            if node.id in changed or (whole and node.id in _touched_in(loop)):
                return False
        elif isinstance(node, ast.Attribute):
            if not _is_constant(node, program):
                return False
            waiting.append((node.value, False))
        elif isinstance(node, ast.Call):
            if dotted(node.func) not in _SAME_FOR_SAME and not dotted(node.func).startswith(("torch.device", "math.")):
                return False
            waiting += [(each, True) for each in (*node.args, *node.keywords)]
        elif isinstance(node, ast.Subscript):
            waiting += [(node.value, True), (node.slice, False)]
        elif isinstance(node, _PLAIN):
            waiting += [(each, whole) for each in children(node)]
        elif not isinstance(node, ast.expr_context):
            return False
    return True


def _is_constant(node: ast.Attribute, program: Program) -> bool:
    """`torch.float32`, `model.device`, `self.size` where only initialisers set an attribute of this name."""
    return dotted(node).partition(".")[0] in _LIBRARIES or node.attr not in _set_later(program)


def _bound_in(loop: LoopNode) -> set[str]:
    """Names that a turn of a loop binds or deletes, in whatever way."""
    found: set[str] = set()
    for node in walk(loop):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.FunctionDef, ast.ClassDef)):
            found.add(node.name or "")
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.MatchMapping):
            found.add(node.rest or "")
    return found


def _touched_in(loop: LoopNode) -> set[str]:
    """Variables whose object a turn may change: its methods are called, its elements set, or it is passed on."""
    found: set[str] = set()
    for node in walk(loop):
        if isinstance(node, ast.Call):
            receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
            is_pure = dotted(node.func) in _SAME_FOR_SAME or dotted(receiver) in _LIBRARIES
            given = () if is_pure else (*node.args, *(each.value for each in node.keywords))
            found |= {each.id for each in (receiver, *given) if isinstance(each, ast.Name)}
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            found.add(dotted(node).partition(".")[0].replace("[]", ""))
    return found


@lru_cache(maxsize=256)
def _shared_in(source: SourceFile) -> frozenset[str]:
    """Names that a function of a file declares `global` or `nonlocal`: any call may bind them anew."""
    if "global" not in source.text and "nonlocal" not in source.text:
        return frozenset()
    nodes = (node for node in walk(parse(source)) if isinstance(node, (ast.Global, ast.Nonlocal)))
    return frozenset(name for node in nodes for name in node.names)


@lru_cache(maxsize=1)
def _set_later(program: Program) -> frozenset[str]:
    """Last names of attributes that anything but an initialiser sets."""
    return frozenset(
        part.attr
        for function in program.functions
        if function.name not in INITIALISERS
        for binding in function.bindings
        for target in targets_of(binding)
        for part in getattr(target, "elts", [target])
        if isinstance(part, ast.Attribute)
    )


def _is_made_on_every_turn(call: ast.Call, loop: LoopNode, function: Function) -> bool:
    """Whether a call stands under no condition and in no function of its own."""
    parents = parents_in(function)
    node: ast.AST = call
    while node is not loop:
        node = parents[id(node)]
        if isinstance(node, _SOMETIMES):
            return False
    return True
