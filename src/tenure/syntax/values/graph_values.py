"""Which values of a function carry an autograd graph, as far as its text tells.

Sure of two things: what a backward pass goes through carries one, and so does what a module returns where autograd is
on. From there it is followed through bindings, arithmetic, methods of tensors and containers. When in doubt: no.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache

from tenure.syntax.program.functions import Function, is_in_body, targets_of
from tenure.syntax.program.program import Program
from tenure.syntax.program.questions import Questions
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.reaching import reaching_lines
from tenure.syntax.text.scopes import LoopNode, dotted
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.text.value_parts import arguments_of, bound_to, gone_through, parts_of
from tenure.syntax.values.without_graph import is_without_graph, runs_without_graph

CUTTING = frozenset(
    {"detach", "detach_", "item", "tolist", "numpy", "argmax", "argmin", "argsort", "size", "dim", "numel", "eq", "ne"}
    | {"gt", "lt", "ge", "le", "any", "all", "isnan", "isinf", "isfinite", "long", "int", "bool", "byte", "nonzero"}
    | {"data_ptr", "element_size", "type", "get_device", "is_contiguous", "multinomial", "bernoulli", "sign", "round"}
    | {"floor", "ceil", "one_hot", "zeros_like", "ones_like", "rand_like", "randn_like", "empty_like", "full_like"}
    | {"new_zeros", "new_ones", "new_full", "new_tensor", "new_empty", "sample", "decode", "batch_decode"}
)
"""Methods and functions whose result leads to no graph."""
_MAPPING = frozenset({"map", "tree_map", "map_structure", "apply_to_collection", "recursive_apply"})
"""Functions that apply another one to each of what they are given."""
FACTS = frozenset(
    {"data", "shape", "dtype", "device", "grad", "ndim", "requires_grad", "is_leaf", "indices", "layout", "names"}
)
_BACKWARD_BY = frozenset({"accelerator", "fabric", "engine", "model_engine", "optimizer", "autograd", "amp", "scaler"})
"""What has a `backward(loss)` of its own."""
_TRAINING_STEPS = frozenset({"training_step", "compute_loss", "manual_training_step"})
"""Methods whose result a framework runs backward through."""
_LOSS = re.compile(r"(^|_)(loss|criterion|objective|nll|cross_entropy|mse|bce|kl)(es|_fn|_func|_function)?($|_)", re.I)
LEARNED = re.compile(
    r"(^|_)(model|net|network|module|backbone|encoder|decoder|head|policy|critic|actor|generator|discriminator|unet|vae)"
    r"(_?\w{0,2})$",
    re.I,
)
_HOLDING = re.compile(r"(?!Parameter|Variable)[A-Z]\w*[a-z]\w*(?<!Error)(?<!Exception)(?<!Warning)(?<!Loss)")
_MAKING = re.compile(
    r"^_*(zero|get|make|create|build|load|init|wrap|unwrap|to|set|prepare|is|has|find|add|register|replace|convert|save"
    r"|evaluate|eval|train|update|test|log|check|print|plot|compare|export|count|freeze|unfreeze|reset|sync|validate)_"
)
_ASKED_OF_MODULES = frozenset({"parameters", "named_parameters", "train", "eval", "state_dict", "load_state_dict"})
_DEEPEST = 40
"""So many variables a value is followed through."""
FUNCTIONALS = ("F", "functional", "nn.functional", "torch.nn.functional")
CONTAINERS = frozenset({"list", "tuple", "dict", "set", "OrderedDict", "ChainMap", "deque", "SimpleNamespace", "sum"})
Returned = tuple[bool, ...]
"""Whether a function's result leads to a graph: for each place where it returns tuples of one length, else once."""


class GraphValues:
    """Of one function.

    `graph_parameters` are parameters that callers give values with a graph, `loss_parameters` those that they give
    losses; `returns_go_backward` says that a caller runs backward through what it returns, `returning` which functions
    of the program return values with a graph.
    """

    def __init__(
        self,
        program: Program,
        function: Function,
        graph_parameters: Collection[str] = (),
        *,
        loss_parameters: Collection[str] = (),
        returns_go_backward: bool = False,
        returning: Mapping[Function, Returned] | None = None,
    ) -> None:
        self._program = program
        self._function = function
        self._graph_parameters = frozenset(graph_parameters)
        self._loss_parameters = frozenset(loss_parameters)
        self._returns_go_backward = returns_go_backward
        self._returning = returning or {}
        self._differentiable: Questions[bool] = Questions(False, _DEEPEST)
        self._carrying: Questions[bool] = Questions(False, _DEEPEST)

    @cached_property
    def roots(self) -> tuple[ast.expr, ...]:
        """What backward passes start from."""
        return backward_roots(self._function, returns_go_backward=self._returns_go_backward)

    def carries(self, node: ast.expr) -> bool:
        """Whether the expression's value leads to a graph, itself or by what it contains."""
        if isinstance(node, ast.Name):
            return self._name_carries(node.id, node.lineno)
        if isinstance(node, ast.Attribute):
            if node.attr in FACTS:
                return False
            return self._dotted_carries(dotted(node), node.lineno) or self.carries(node.value)
        if isinstance(node, ast.Call):
            return self._call_carries(node)
        if isinstance(node, ast.Compare):
            return False
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            place = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return self._call_carries(node.value, place=place if isinstance(place, int) else None)
        return any(self.carries(each) for each in parts_of(node))

    @cached_property
    def called_on_the_way(self) -> tuple[ast.Call, ...]:
        """Calls whose results a backward pass goes through."""
        values = list(self.roots)
        values += [value for key in self._through_backward for value in self._bindings[key]]
        return tuple(call for value in values for call in _calls_in(value))

    @property
    def returned(self) -> Returned:
        """Whether what the function returns leads to a graph."""
        values = [each.value for each in self._function.returns if each.value is not None]
        lengths = {len(value.elts) if isinstance(value, ast.Tuple) else 0 for value in values}
        length = lengths.pop() if len(lengths) == 1 else 0
        if not length:
            return (any(map(self.carries, values)),)
        rows = [value.elts for value in values if isinstance(value, ast.Tuple)]
        return tuple(any(self.carries(row[at]) for row in rows) for at in range(length))

    def works_in(self, loop: LoopNode) -> bool:
        """Whether each turn of a loop calls a module or a function that returns a graph, or runs backward."""
        return any(self._is_work(call) for call in self._function.calls if is_in_body(call.lineno, loop))

    def _is_work(self, call: ast.Call) -> bool:
        called = self._program.called_by(call, self._function)
        if called is not None:
            return called in self._returning
        return backward_root(call) is not None or self._is_learned(call)

    def is_loss(self, node: ast.expr) -> bool:
        """Whether a value is a loss, by its name or what it comes from."""
        if isinstance(node, ast.Name):
            if is_loss_name(node.id) or node.id in self._loss_parameters:
                return True
            bound = [
                value for at in self._bound_at(node.id, node.lineno) for value in self._bindings.get((node.id, at), [])
            ]
            return any(isinstance(value, ast.Call) and is_loss_name(called_name(value)) for value in bound)
        if isinstance(node, ast.Call):
            receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
            return is_loss_name(called_name(node)) or (receiver is not None and self.is_loss(receiver))
        if isinstance(node, ast.Attribute):
            return is_loss_name(node.attr) or self.is_loss(node.value)
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return (isinstance(key, str) and is_loss_name(key)) or self.is_loss(node.value)
        return any(self.is_loss(each) for each in parts_of(node))

    def goes_backward(self, name: str) -> bool:
        """Whether a backward pass of this function starts from, or goes through, a variable or attribute."""
        return any(key == name for key, _ in self._through_backward)

    @cached_property
    def _through_backward(self) -> frozenset[tuple[str, int]]:
        """Names with the line of the binding whose value a backward pass goes through."""
        found: set[tuple[str, int]] = set()
        waiting = list(self.roots)
        while waiting:
            node = waiting.pop()
            for name, line in _names_of(node):
                for at in self._bound_at(name, line):
                    values = self._bindings.get((name, at), [])
                    if (name, at) in found or not any(self._is_differentiable(value) for value in values):
                        continue
                    found.add((name, at))
                    waiting += values
        return frozenset(found)

    def _is_differentiable(self, value: ast.expr) -> bool:
        """Whether a value on the way to a loss is computed there, and is not data that only goes in."""
        if isinstance(value, ast.Call):
            name = called_name(value)
            if name in CUTTING:
                return False
            return (
                self._is_learned(value)
                or self._passes_on(value)
                or any(self._is_differentiable(each) or self._is_known(each) for each in arguments_of(value))
            )
        if isinstance(value, (ast.Name, ast.Attribute)):
            return self._is_known(value)
        if isinstance(value, ast.Subscript) and self._is_of_frozen(value):
            return False
        return any(self._is_differentiable(each) for each in parts_of(value))

    def _is_of_frozen(self, value: ast.Subscript) -> bool:
        """Whether an element of what a function of the program returns is computed by frozen modules alone."""
        place = value.slice.value if isinstance(value.slice, ast.Constant) else None
        called = self._program.called_by(value.value, self._function) if isinstance(value.value, ast.Call) else None
        rows = [each.value for each in called.returns] if called is not None else []
        if called is None or not isinstance(place, int) or not rows:
            return False
        elements = [row.elts[place] for row in rows if isinstance(row, ast.Tuple) and place < len(row.elts)]
        run = [node for each in elements for node in walk(each) if isinstance(node, ast.Call)]
        modules = [each for each in run if self._program.objects.is_module(each.func, called)]
        frozen = all(self._program.objects.is_frozen(each.func, called) for each in modules)
        return bool(modules) and frozen and len(elements) == len(rows)

    def _is_known(self, value: ast.expr) -> bool:
        """A variable whose own binding is differentiable."""
        key = (dotted(value), value.lineno)
        return bool(key[0]) and self._differentiable.answer(key, lambda: self._is_bound_to_differentiable(value, *key))

    def _is_bound_to_differentiable(self, value: ast.expr, name: str, line: int) -> bool:
        bound = [each for at in self._bound_at(name, line) for each in self._bindings.get((name, at), [])]
        base = value.value if isinstance(value, ast.Attribute) and value.attr not in FACTS else None
        return any(map(self._is_differentiable, bound)) or (base is not None and self._is_known(base))

    def _name_carries(self, name: str, line: int) -> bool:
        bound = self._bound_at(name, line)
        if any((name, at) in self._through_backward for at in bound):
            return True
        if name in self._graph_parameters and self._definition_line in bound:
            return True
        return self._values_carry(name, line, bound)

    def _dotted_carries(self, name: str, line: int) -> bool:
        bound = self._bound_at(name, line) if "." in name else ()
        return any((name, at) in self._through_backward for at in bound) or self._values_carry(name, line, bound)

    def _values_carry(self, name: str, line: int, bound: Collection[int]) -> bool:
        if not self._carrying.is_asked:  # which functions return graphs may be known better than before
            self._carrying = Questions(False, _DEEPEST)
        values = [value for at in bound for value in self._bindings.get((name, at), [])]
        return self._carrying.answer((name, line), lambda: any(map(self.carries, values)))

    def _call_carries(self, call: ast.Call, *, place: int | None = None) -> bool:
        name = called_name(call)
        if is_cutting(call) or is_without_graph(self._program, self._function, call):
            return False
        called = self._program.called_by(call, self._function)
        made = (called is not None and called.name == "__init__") or self._program.names.class_of(
            name, self._function.source
        ) is not None
        if called is not None and not made:
            returned = self._returning.get(called, (False,))
            return returned[place] if place is not None and 0 <= place < len(returned) > 1 else any(returned)
        if self._is_learned(call):
            return True
        function = call.func
        if isinstance(function, ast.Attribute) and not self._is_library(function.value):
            if self.carries(function.value):
                return True
            return self._passes_on(call) and any(self.carries(each) for each in arguments_of(call))
        holds = name in CONTAINERS or made or is_holding(call)
        takes = isinstance(function, ast.Attribute) or self._passes_on(call) or holds
        return takes and any(self.carries(each) for each in arguments_of(call))

    def _is_library(self, receiver: ast.expr) -> bool:
        """`torch` and `F`: their functions give what their arguments have."""
        return dotted(receiver) in ("torch", "torch.linalg", "torch.fft", "einops", *FUNCTIONALS)

    def _passes_on(self, call: ast.Call) -> bool:
        """Whether a function's result has the graphs of its arguments: `F.relu(x)`, a criterion."""
        function = call.func
        is_functional = isinstance(function, ast.Attribute) and dotted(function.value) in FUNCTIONALS
        return is_functional or is_loss_name(called_name(call))

    def _is_learned(self, call: ast.Call) -> bool:
        """Whether a module is called: by what else is done with the name, its class, or how it is called."""
        if not (call.args or call.keywords):
            return False
        name = dotted(call.func)
        if not name or self._program.called_by(call, self._function) is not None:
            return False
        if self._program.objects.is_frozen(call.func, self._function):
            return False
        if runs_without_graph(self._program, call, self._function):
            return False
        last = name.rpartition(".")[2]
        if name.startswith("self.") or "." not in name:
            return name in modules_of(self._program, self._function) or is_module_name(last)
        return last == "forward" or name in modules_of(self._program, self._function)

    def _bound_at(self, name: str, line: int) -> Collection[int]:
        if "." in name:  # attributes: any binding in the function may be in force
            return self._lines_bound.get(name, ())
        return reaching_lines(self._function.source, self._function.qualname, name, line)

    @cached_property
    def _lines_bound(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for name, line in self._bindings:
            found.setdefault(name, []).append(line)
        return found

    @property
    def _definition_line(self) -> int:
        return getattr(self._function.node, "lineno", 0)

    @cached_property
    def _bindings(self) -> dict[tuple[str, int], list[ast.expr]]:
        """What is bound to a variable or attribute, by the line of the statement."""
        found: dict[tuple[str, int], list[ast.expr]] = {}
        for binding in self._function.bindings:
            if binding.value is None:
                continue
            pairs = (pair for target in targets_of(binding) for pair in bound_to(target, binding.value))
            for name, value in pairs:
                found.setdefault((name, binding.lineno), []).append(value)
        for loop in self._function.loops:
            if isinstance(loop, (ast.For, ast.AsyncFor)):
                for name, value in gone_through(loop.target, loop.iter):
                    found.setdefault((name, loop.lineno), []).append(value)
        return found


def is_cutting(call: ast.Call) -> bool:
    """Whether what a call gives leads to no graph: `x.detach()`, `map(torch.detach, xs)`."""
    name = called_name(call)
    if name not in _MAPPING:
        return name in CUTTING
    functions = [each.body if isinstance(each, ast.Lambda) else each for each in call.args]
    return any(
        called_name(each) in CUTTING if isinstance(each, ast.Call) else dotted(each).rpartition(".")[2] in CUTTING
        for each in functions
    )


def is_module_name(name: str) -> bool:
    """Whether a variable or attribute is named as a module is, and no function that makes or changes one."""
    return bool(LEARNED.search(name)) and not _MAKING.match(name)


def is_holding(call: ast.Call) -> bool:
    """Whether what is called is named as a class whose objects keep what they are given: a named tuple, an output; no
    optimizer, whose parameters live elsewhere."""
    given = (called_name(each) for each in call.args if isinstance(each, ast.Call))
    return bool(_HOLDING.fullmatch(called_name(call))) and "parameters" not in given


def is_loss_name(name: str) -> bool:
    """Whether a variable, attribute or function is named as a loss is."""
    return bool(_LOSS.search(name))


def is_loss_value(value: ast.expr) -> bool:
    """Whether a value is a loss by its name, or by a name within."""
    return any(
        is_loss_name(node.id if isinstance(node, ast.Name) else node.attr)
        for node in walk(value)
        if isinstance(node, (ast.Name, ast.Attribute))
    )


def backward_roots(function: Function, *, returns_go_backward: bool = False) -> tuple[ast.expr, ...]:
    """What backward passes of a function start from; what it returns where callers, or a framework, run backward."""
    calls = function.calls_of("backward", "manual_backward")
    found = [root for call in calls if (root := backward_root(call)) is not None]
    if returns_go_backward or (function.is_method and function.name in _TRAINING_STEPS):
        found += [each.value for each in function.returns if each.value is not None]
    return tuple(found)


def backward_root(call: ast.Call) -> ast.expr | None:
    """What a call runs a backward pass from: `loss` of `loss.backward()` and `accelerator.backward(loss)`."""
    function = call.func
    if not isinstance(function, ast.Attribute):
        return None
    if function.attr == "manual_backward":
        return call.args[0] if call.args else None
    if function.attr != "backward":
        return None
    owner = dotted(function.value).rpartition(".")[2]
    if owner in _BACKWARD_BY or owner.endswith("engine"):
        return call.args[0] if call.args else None
    return function.value


def modules_of(program: Program, function: Function) -> frozenset[str]:
    """Names that a file uses as modules: made by a module's class, or asked for parameters or for a mode."""
    return _modules_by_file(program).get(function.source.path, frozenset())


@lru_cache(maxsize=1)
def _modules_by_file(program: Program) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for function in program.functions:
        found.setdefault(function.source.path, set()).update(_modules_in(program, function))
    return {path: frozenset(names) for path, names in found.items()}


def _modules_in(program: Program, function: Function) -> Iterator[str]:
    for call in function.calls_of(*_ASKED_OF_MODULES):
        if isinstance(call.func, ast.Attribute):
            yield dotted(call.func.value)
    for binding in function.bindings:
        if isinstance(binding, ast.Assign) and _makes_module(program, binding.value, function):
            yield from (dotted(target) for target in binding.targets)


def _makes_module(program: Program, value: ast.expr, function: Function) -> bool:
    """`nn.Linear(...)`, `Net(...)`, either moved or wrapped: `Net().to(device)`."""
    while isinstance(value, ast.Call):
        name = dotted(value.func)
        if name.startswith(("nn.", "torch.nn.")) and not name.endswith(("Parameter", "DataParallel")):
            return not name.startswith(("nn.functional", "torch.nn.functional", "nn.init", "nn.utils"))
        if program.names.class_of(name, function.source) is not None and program.is_module_class(name, function.source):
            return True
        if not isinstance(value.func, ast.Attribute):
            return False
        value = value.func.value
    return False


def _calls_in(value: ast.expr) -> Iterator[ast.Call]:
    """Calls that a value is the result of, or is computed from without being an argument."""
    if isinstance(value, ast.Call):
        yield value
        if isinstance(value.func, ast.Attribute):
            yield from _calls_in(value.func.value)
    elif isinstance(value, ast.Attribute):
        yield from _calls_in(value.value)
    else:
        yield from (call for part in parts_of(value) for call in _calls_in(part))


def _names_of(node: ast.expr) -> Iterator[tuple[str, int]]:
    """Variables and attributes that a value is computed from, through whatever has a derivative."""
    if isinstance(node, ast.Name):
        yield node.id, node.lineno
    elif isinstance(node, ast.Attribute):
        if node.attr not in FACTS:
            yield dotted(node), node.lineno
            yield from _names_of(node.value)
    elif isinstance(node, ast.Call):
        if called_name(node) not in CUTTING:
            yield from (name for each in arguments_of(node) for name in _names_of(each))
    else:
        yield from (name for each in parts_of(node) for name in _names_of(each))
