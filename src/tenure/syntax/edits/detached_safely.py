"""Whether a value that is kept can be detached without a change of what the program computes, as its text shows."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_values import ends_with_call, parts_of_display
from tenure.syntax.program.functions import Function, targets_of
from tenure.syntax.program.keeping import Keep
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import all_arguments, called_name
from tenure.syntax.text.mentions import mentions
from tenure.syntax.text.number_flows import may_be_number
from tenure.syntax.text.scopes import MODULE, dotted
from tenure.syntax.text.tree_walks import children, walk
from tenure.syntax.values.trained_through import last_names

_MOST_FILES = 40
"""So many files may know the names that the kept value goes by; with more, nothing is said to be safe."""
_METHODS_THAT_END = frozenset(
    {"argmax", "argmin", "detach", "item", "numpy", "size", "tolist", "isfinite", "isnan", "isinf", "numel", "dim"}
)
_FUNCTIONS_THAT_END = frozenset({"float", "int", "bool", "len", "print", "str", "format", "repr", "isinstance"})
"""What has no derivative to go through."""
_DERIVATIVES = frozenset({"backward", "grad", "jacobian", "hessian", "vjp", "jvp"})
_MAY_DERIVE = ("backward", "grad", "step", "train", "fit", "optimi", "minimi")
"""Parts of names of functions that are not in the program and may run backward through what they are given."""
_KEEPING = ("retain_graph", "create_graph")
_LOOKS = frozenset(
    {"grad_fn", "requires_grad", "requires_grad_", "is_leaf", "retain_grad", "register_hook", "backward"}
)
_OF_TENSORS = frozenset(
    {"mean", "sum", "abs", "pow", "square", "sqrt", "norm", "exp", "max", "min", "clamp", "relu", "sigmoid", "tanh"}
    | {"softmax", "log_softmax", "float", "double", "half", "to", "cpu", "cuda", "view", "reshape", "flatten", "neg"}
    | {"squeeze", "unsqueeze", "transpose", "permute", "contiguous", "clone", "var", "std", "mul", "div"}
)
"""Methods that give a tensor; so do functions of torch with these names."""
_FUNCTIONS_OF_TORCH = _OF_TENSORS | frozenset(
    {"stack", "cat", "einsum", "matmul", "mm", "bmm", "add", "sub", "log", "cross_entropy", "kl_div", "linear"}
    | {"logsumexp", "cosine_similarity", "normalize", "softplus"}
)
_FUNCTIONALS = ("torch", "F", "functional", "nn.functional", "torch.nn.functional")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_detached_safely(program: Program, function: Function, keep: Keep) -> bool:
    """Whether the value is a tensor for sure, and nothing that is computed from what keeps it is differentiated,
    compared by identity, asked for its graph, or handed to code that is not there.

    Errs on the side of no: values are followed by name, over all files that mention the name, into and out of calls.
    """
    if not all(is_tensor(function, value) for value in detachable(function, keep.value)):
        return False
    last = keep.place.rpartition(".")[2]
    is_shared = "." in keep.place or function.qualname == MODULE
    if len(_sources(program)) <= _MOST_FILES and any(_facts_of(tree).keeps for tree in _trees(program).values()):
        return False
    reach = _follow(program, ({f".{last}"} if is_shared else set()) | (set() if "." in keep.place else {last}))
    return reach is not None and (reach.num_reads > 1 or "." not in keep.place)


def may_be_no_tensor(program: Program, function: Function, value: ast.expr) -> bool:
    """Whether a variable that is kept gets a number elsewhere, or what is kept is an object that the program's own
    class makes: neither can be detached."""
    if any(
        isinstance(each, ast.Call) and called_name(each) in program.names.classes
        for each in (value, *_values_of(function, value))
    ):
        return True
    files = _sources(program)
    near = (
        [each for each in files.values() if function.name in each.text] if len(files) > _MOST_FILES else files.values()
    )
    return may_be_number(list(near)[:_MOST_FILES], function.source, value)


def _values_of(function: Function, value: ast.expr) -> Iterator[ast.expr | None]:
    """What a variable is bound to in the function."""
    for each in function.bindings:
        if isinstance(value, ast.Name) and value.id in [dotted(target) for target in targets_of(each)]:
            yield each.value


def detachable(function: Function, value: ast.expr) -> list[ast.expr]:
    """What of a kept value is to be detached: of a tuple, list or dict as written, the tensors that are not yet."""
    parts = parts_of_display(value)
    if parts == [value]:
        return parts
    return [each for each in parts if is_tensor(function, each) and not ends_with_call(each, "detach")]


def is_tensor(function: Function, value: ast.expr) -> bool:
    """Whether an expression is a tensor by how it is made or used: a call of a tensor's method or of torch's
    functions, arithmetic with one, or a variable on which the function calls `backward()`."""
    if isinstance(value, ast.BinOp):
        return is_tensor(function, value.left) or is_tensor(function, value.right)
    if isinstance(value, ast.UnaryOp):
        return is_tensor(function, value.operand)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        name, receiver = value.func.attr, dotted(value.func.value)
        is_functional = receiver in _FUNCTIONALS
        if name in ("max", "min") and (len(value.args) > is_functional or value.keywords):
            return False  # with their places, as a pair
        if is_functional:
            return name in _FUNCTIONS_OF_TORCH or name.endswith("_loss")
        return name in _OF_TENSORS and receiver not in ("np", "numpy", "math")
    if not isinstance(value, ast.Name):
        return False
    if any(
        isinstance(call.func, ast.Attribute) and call.func.attr == "backward" and dotted(call.func.value) == value.id
        for call in function.calls
    ):
        return True
    bound = [
        each.value
        for each in function.bindings
        if not isinstance(each, ast.AugAssign) and value.id in [dotted(target) for target in targets_of(each)]
    ]
    others = [part for each in function.bindings for part in targets_of(each) if _unpacks(part, value.id)]
    made = [each for each in bound if each is not None and not _mentions(each, value.id)]
    loops = any(isinstance(loop, ast.For) and _mentions(loop.target, value.id) for loop in function.loops)
    known = value.id not in function.parameters and not others and not loops
    return known and bool(made) and all(is_tensor(function, each) for each in made)


@dataclass(frozen=True)
class _Reach:
    num_reads: int


def _follow(program: Program, names: set[str]) -> _Reach | None:
    """The files in which a value that is kept under names goes about; None where a derivative may go through it."""
    files, trees = _sources(program), _trees(program)
    facts: dict[str, _Facts] = {}
    derived, new, handed = set(names), set(names), set[str]()
    while new:
        words = {each.strip(".()") for each in new}
        near = [path for path in files if path not in facts and any(mentions(files[path], each) for each in words)]
        if len(facts) + len(near) > _MOST_FILES:
            return None
        known, met = list(facts.values()), [_facts_of(trees[path]) for path in near]
        facts |= zip(near, met, strict=True)
        more = {each for one in known for each in one.flowing(new)} | {
            each for one in met for each in one.flowing(derived)
        }
        given = {each for one in known for each in one.handing(new)} | {
            each for one in met for each in one.handing(derived)
        }
        more |= {each for one in known for each in one.taking(given - handed)}
        handed |= given
        more |= {each for one in met for each in one.taking(handed)}
        new = more - derived
        derived |= new
    if any(each.keeps or each.asks_for(derived, facts.values()) for each in facts.values()):
        return None
    calls = {called for each in facts.values() for called in each.calls}
    if any(each.endswith("()") and each[:-2] not in calls for each in derived):
        return None
    return _Reach(sum(each.reads[name] for each in facts.values() for name in names))


class _Facts:
    """Of one file, all by names: what is bound to what, what is passed to calls, what is differentiated or asked."""

    def __init__(self) -> None:
        self.reads: Counter[str] = Counter()
        self.calls: set[str] = set()
        self.keeps = False
        """Whether a backward pass may leave its graph for another one."""
        self._flows: dict[str, set[str]] = {}
        self._passed: dict[str, set[str]] = {}
        self._parameters: dict[str, set[str]] = {}
        self._asked: set[str] = set()
        self._differentiated: dict[str, set[str]] = {}

    def add_flow(self, targets: set[str], names: set[str]) -> None:
        """Values of `names` go into `targets`."""
        for each in names:
            self._flows.setdefault(each, set()).update(targets)

    def add_call(self, called: str, given: set[str]) -> None:
        """A call is given values of names."""
        self.calls.add(called)
        for each in given:
            self._passed.setdefault(each, set()).add(called)
        if _may_derive(called):
            self._differentiated.setdefault(called, set()).update(given)

    def add_function(self, name: str, parameters: set[str]) -> None:
        """A function is defined."""
        self._parameters.setdefault(name, set()).update(parameters)

    def add_asked(self, names: set[str]) -> None:
        """Values of names are differentiated, compared by identity, or asked for their graph."""
        self._asked |= names

    def flowing(self, names: Iterable[str]) -> set[str]:
        """What the values of names go into at once."""
        return set[str]().union(*(self._flows[each] for each in names if each in self._flows))

    def handing(self, names: Iterable[str]) -> set[str]:
        """The functions that are given values of names."""
        return set[str]().union(*(self._passed[each] for each in names if each in self._passed))

    def taking(self, called: Iterable[str]) -> set[str]:
        """The parameters of functions that are defined here."""
        return set[str]().union(*(self._parameters[each] for each in called if each in self._parameters))

    def asks_for(self, names: set[str], near: Collection[_Facts]) -> bool:
        """Whether values of names are asked for here, or handed to what none of the files defines and may derive."""
        return not names.isdisjoint(self._asked) or any(
            not names.isdisjoint(given)
            for called, given in self._differentiated.items()
            if not any(called in each._parameters for each in near)
        )


@lru_cache(maxsize=256)
def _facts_of(tree: ast.Module) -> _Facts:
    facts = _Facts()
    for node in walk(tree):
        for targets, names in _flows(node):
            facts.add_flow(targets, names)
        if isinstance(node, ast.Call):
            _add_call(facts, node)
        elif isinstance(node, _FUNCTIONS):
            facts.add_function(node.name, {each.arg for each in all_arguments(node.args)})
        elif isinstance(node, ast.Compare) and any(
            isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops
        ):
            parts = [node.left, *node.comparators]
            if not any(isinstance(part, ast.Constant) for part in parts):
                facts.add_asked(set[str]().union(*map(_names, parts)))
        elif isinstance(node, ast.Attribute) and node.attr in _LOOKS:
            facts.add_asked(_names(node.value))
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            facts.reads[node.id if isinstance(node, ast.Name) else f".{node.attr}"] += 1
    return facts


def _add_call(facts: _Facts, node: ast.Call) -> None:
    called, given = called_name(node), _arguments(node)
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    facts.keeps |= any(
        each.arg in _KEEPING and getattr(each.value, "value", True) is not False for each in node.keywords
    )
    facts.add_call(called, given)
    if called in _DERIVATIVES:
        facts.add_asked(given | (_names(receiver) if receiver is not None else set()))
    if receiver is not None:
        facts.add_flow(last_names(receiver), given)


def _flows(node: ast.AST) -> Iterator[tuple[set[str], set[str]]]:
    """Names that a statement binds, with the names in what it binds them to."""
    if isinstance(node, ast.Assign):
        yield {name for target in node.targets for name in last_names(target)}, _names(node.value)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
        yield last_names(node.target), _names(node.value)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield last_names(node.target), _names(node.iter)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield last_names(node.optional_vars), _names(node.context_expr)
    elif isinstance(node, _FUNCTIONS):
        called = f".{node.name}" if "property" in map(dotted, node.decorator_list) else f"{node.name}()"
        returned = (each.value for each in walk(node) if isinstance(each, (ast.Return, ast.Yield, ast.YieldFrom)))
        yield {called}, {name for value in returned if value is not None for name in _names(value)}


def _arguments(call: ast.Call) -> set[str]:
    if _ends(call):
        return set()
    return set[str]().union(*(_names(each) for each in (*call.args, *(each.value for each in call.keywords))))


def _names(node: ast.AST) -> set[str]:
    """Variables, attributes and functions (`f()`) that a value is computed from, through whatever has a derivative."""
    if isinstance(node, ast.Call) and _ends(node):
        return set()
    own: set[str] = set()
    if isinstance(node, ast.Name):
        own = {node.id}
    elif isinstance(node, ast.Attribute):
        own = {f".{node.attr}"}
    elif isinstance(node, ast.Call):
        own = {f"{called_name(node)}()", *_named_by_text(node)}
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return own.union(*map(_names, (*receiver, *node.args, *node.keywords)))
    return own.union(*map(_names, children(node)))


def _ends(call: ast.Call) -> bool:
    """Whether no derivative goes through a call."""
    return called_name(call) in (_METHODS_THAT_END if isinstance(call.func, ast.Attribute) else _FUNCTIONS_THAT_END)


def _may_derive(called: str) -> bool:
    return any(part in called.lower() for part in _MAY_DERIVE)


def _named_by_text(call: ast.Call) -> set[str]:
    """`.losses` of `getattr(model, "losses")`."""
    texts = (
        [each.value for each in call.args if isinstance(each, ast.Constant)] if called_name(call) == "getattr" else []
    )
    return {f".{text}" for text in texts if isinstance(text, str)}


@lru_cache(maxsize=1)
def _trees(program: Program) -> dict[str, ast.Module]:
    return {each.source.path: each.node for each in program.functions if isinstance(each.node, ast.Module)}


@lru_cache(maxsize=1)
def _sources(program: Program) -> dict[str, SourceFile]:
    return {each.source.path: each.source for each in program.functions if each.qualname == MODULE}


def _unpacks(target: ast.expr, name: str) -> bool:
    return isinstance(target, (ast.Tuple, ast.List)) and _mentions(target, name)


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in walk(node))
