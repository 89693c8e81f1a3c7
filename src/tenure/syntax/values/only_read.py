"""Whether a tensor that an expression makes is only read: not changed in place, not stored, not handed to strangers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import children, walk
from tenure.syntax.values.graph_values import FACTS, FUNCTIONALS, is_loss_name, is_module_name, modules_of

_TORCH = ("torch", "torch.linalg", "torch.fft", "torch.special", "torch.autograd", *FUNCTIONALS)
_GIVES_THE_SAME = frozenset(
    {"as_tensor", "asarray", "from_numpy", "reshape", "squeeze", "unsqueeze", "transpose", "permute", "flatten", "t"}
    | {"movedim", "swapaxes", "view_as_real", "view_as_complex", "broadcast_to", "atleast_1d", "atleast_2d", "real"}
    | {"chunk", "split", "tensor_split", "unbind", "broadcast_tensors", "meshgrid", "narrow", "select", "diagonal"}
)
"""Functions of torch whose result may share its memory with an argument."""
_JOINS = frozenset({"cat", "concat", "stack", "hstack", "vstack", "block_diag", "where"})
_READS_ARGUMENTS = frozenset(
    {"gather", "index_select", "masked_fill", "masked_select", "scatter", "scatter_add", "index_add", "matmul", "mm"}
    | {"bmm", "add", "sub", "mul", "div", "pow", "eq", "ne", "gt", "lt", "ge", "le", "where", "maximum", "minimum"}
    | {"masked_fill_", "index_add_", "index_copy_", "scatter_", "scatter_add_", "add_", "sub_", "mul_", "div_", "copy_"}
    | {"lerp", "lerp_", "log_prob", "clamp", "expand_as", "allclose", "equal", "take"}
)
"""Methods of tensors that read what they are given."""
_READING = frozenset({"print", "len", "float", "int", "bool", "isinstance", "str", "repr"})
_DEEPEST = 2


@lru_cache(maxsize=64)
def parents_in(function: Function) -> Mapping[int, ast.AST]:
    """The node around each node of a function, by its `id`."""
    return {id(child): node for node in walk(function.node) for child in children(node)}


def is_only_read(program: Program, function: Function, node: ast.expr) -> bool:
    """Whether nothing in `function`, or in what of the program it gives the value to, changes, keeps or returns it."""
    return _Uses(program, function, 0).reads(node)


class _Uses:
    """Of the values of one function; `depth` calls away from where the value was made."""

    def __init__(self, program: Program, function: Function, depth: int) -> None:
        self._program = program
        self._function = function
        self._depth = depth
        self._parents = parents_in(function)
        self._seen: set[str] = set()

    def reads(self, node: ast.AST) -> bool:
        around = self._parents.get(id(node))
        if isinstance(around, (ast.UnaryOp, ast.BinOp, ast.Compare, ast.FormattedValue)):
            return True
        if isinstance(around, ast.Subscript):
            is_index = around.slice is node
            return is_index or (isinstance(around.ctx, ast.Load) and self.reads(around))
        if isinstance(around, ast.Attribute):
            return self._attribute(around)
        if isinstance(around, ast.keyword):
            call = self._parents[id(around)]
            return around.arg not in ("out", None) and isinstance(call, ast.Call) and self._argument(call, node)
        if isinstance(around, ast.Call):
            return self._argument(around, node)
        if isinstance(around, (ast.Tuple, ast.List)):
            return self._display(around)
        if isinstance(around, ast.Assign) and len(around.targets) == 1:
            return isinstance(around.targets[0], ast.Name) and self.reads_name(around.targets[0].id, bindings=1)
        return isinstance(around, ast.Delete)

    def reads_name(self, name: str, *, bindings: int) -> bool:
        """Whether a variable that is bound so often is read, and only that, and by no function inside."""
        if name in self._seen:
            return True
        self._seen.add(name)
        mentions = [each for each in walk(self._function.node) if isinstance(each, ast.Name) and each.id == name]
        if sum(isinstance(each.ctx, ast.Store) for each in mentions) != bindings:
            return False
        loads = [each for each in mentions if isinstance(each.ctx, ast.Load)]
        return bool(loads) and all(self._is_own(each) and self.reads(each) for each in loads)

    def _is_own(self, node: ast.AST) -> bool:
        """Whether a node stands in no function inside."""
        around = self._parents.get(id(node))
        while around is not None and around is not self._function.node:
            if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                return False
            around = self._parents.get(id(around))
        return True

    def _attribute(self, node: ast.Attribute) -> bool:
        call = self._parents.get(id(node))
        if isinstance(call, ast.Call) and call.func is node:
            changes = node.attr.endswith("_") and not node.attr.endswith("__")
            return not changes and self.reads(call)
        return isinstance(node.ctx, ast.Load) and (node.attr in FACTS - {"data", "grad"} or self._is_view(node))

    def _is_view(self, node: ast.Attribute) -> bool:
        return node.attr in ("data", "T", "mT", "real", "imag") and self.reads(node)

    def _display(self, node: ast.Tuple | ast.List) -> bool:
        around = self._parents.get(id(node))
        if isinstance(around, ast.Subscript):
            return around.slice is node
        return isinstance(around, ast.Call) and called_name(around) in _JOINS and _owner(around) == "torch"

    def _argument(self, call: ast.Call, node: ast.AST) -> bool:
        """Whether a call only reads what it is given."""
        name = called_name(call)
        if _owner(call) in _TORCH:
            in_place = any(each.arg == "inplace" for each in call.keywords)
            is_function = name[:1].islower() and not name.endswith("_") and not in_place
            return is_function and (name not in _GIVES_THE_SAME or self.reads(call))
        called = self._program.called_by(call, self._function)
        if called is None and (made := self._program.made_by(dotted(call.func), self._function)) is not None:
            called = made.methods.get("forward")
        if called is not None:
            return self._depth < _DEEPEST and self._is_read_by(called, call, node)
        if name in _READING or (isinstance(call.func, ast.Attribute) and name in _READS_ARGUMENTS):
            return True
        is_module = dotted(call.func) in modules_of(self._program, self._function) or is_module_name(name)
        return is_module or is_loss_name(name)

    def _is_read_by(self, called: Function, call: ast.Call, node: ast.AST) -> bool:
        names = [each for each in called.parameters if any(node is given for given in given_to(each, called, call))]
        if len(names) != 1 or called.name == "__init__":
            return False
        return _Uses(self._program, called, self._depth + 1).reads_name(names[0], bindings=0)


def _owner(call: ast.Call) -> str:
    return dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
