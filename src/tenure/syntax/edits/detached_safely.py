"""Whether a value that is kept can be detached without a change of what the program computes, as its text shows."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_values import ends_with_call, parts_of_display
from tenure.syntax.program.functions import Function, targets_of
from tenure.syntax.program.keeping import Keep
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
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
    derived, paths = set(names), set[str]()
    while True:
        words = {each.strip(".()") for each in derived}
        found = {path for path, source in files.items() if any(mentions(source, word) for word in words)}
        if len(found) > _MOST_FILES:
            return None
        facts = [_facts_of(trees[path]) for path in sorted(found)]
        parameters: dict[str, list[set[str]]] = {}
        for each in facts:
            for called, own in each.parameters:
                parameters.setdefault(called, []).append(own)
        more = {target for each in facts for targets, value in each.flows if derived & value for target in targets}
        for each in facts:
            for called, value in each.passed:
                if derived & value:
                    more |= set[str]().union(*parameters.get(called, []))
        if found <= paths and more <= derived:
            break
        paths |= found
        derived |= more
    asked = [value for each in facts for value in each.asked]
    asked += [
        value for each in facts for called, value in each.passed if called not in parameters and _may_derive(called)
    ]
    if any(derived & value for value in asked) or any(each.keeps for each in facts):
        return None
    calls = {called for each in facts for called, _ in each.passed}
    if any(each.endswith("()") and each[:-2] not in calls for each in derived):
        return None
    return _Reach(sum(each.reads[name] for each in facts for name in names))


@dataclass(frozen=True)
class _Facts:
    """Of one file, all by names: what is bound to what, what is passed to calls, what is differentiated or asked."""

    flows: tuple[tuple[set[str], set[str]], ...]
    passed: tuple[tuple[str, set[str]], ...]
    parameters: tuple[tuple[str, set[str]], ...]
    asked: tuple[set[str], ...]
    reads: Counter[str]
    keeps: bool
    """Whether a backward pass may leave its graph for another one."""


@lru_cache(maxsize=256)
def _facts_of(tree: ast.Module) -> _Facts:
    flows: list[tuple[set[str], set[str]]] = []
    passed: list[tuple[str, set[str]]] = []
    parameters: list[tuple[str, set[str]]] = []
    asked: list[set[str]] = []
    reads: list[str] = []
    keeps = False
    for node in walk(tree):
        flows += _flows(node)
        if isinstance(node, ast.Call):
            called, given = called_name(node), _arguments(node)
            keeps |= any(
                each.arg in _KEEPING and getattr(each.value, "value", True) is not False for each in node.keywords
            )
            passed.append((called, given))
            receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
            if called in _DERIVATIVES:
                asked.append(given | (_names(receiver) if receiver is not None else set()))
            if receiver is not None:
                flows.append((last_names(receiver), given))
        elif isinstance(node, _FUNCTIONS):
            arguments = node.args
            every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
            parameters.append((node.name, {each.arg for each in every if each is not None}))
        elif isinstance(node, ast.Compare) and any(
            isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops
        ):
            parts = [node.left, *node.comparators]
            if not any(isinstance(part, ast.Constant) for part in parts):
                asked.append(set[str]().union(*map(_names, parts)))
        elif isinstance(node, ast.Attribute) and node.attr in _LOOKS:
            asked.append(_names(node.value))
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            reads.append(node.id if isinstance(node, ast.Name) else f".{node.attr}")
    return _Facts(tuple(flows), tuple(passed), tuple(parameters), tuple(asked), Counter(reads), keeps)


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
