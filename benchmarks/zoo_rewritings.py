"""Ways to write a zoo program anew that leave its leak as it is: each changes the trees, and says whether there was
anything to change."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from zoo_score import Truth
from zoo_trees import KIT, Function, Program, bodies

Loop = (ast.For, ast.While)


def _kit(name: str) -> ast.expr:
    return ast.Attribute(ast.Name(KIT, ast.Load()), name, ast.Load())


def _call_kit(name: str, *values: object) -> ast.Expr:
    return ast.Expr(ast.Call(_kit(name), [ast.Constant(value) for value in values], []))


def _import_kit(tree: ast.Module) -> None:
    at = 1 if tree.body and isinstance(tree.body[0], ast.Expr) else 0
    while at < len(tree.body) and isinstance(node := tree.body[at], ast.ImportFrom) and node.module == "__future__":
        at += 1
    tree.body.insert(at, ast.Import([ast.alias(KIT)]))


def _plain(program: Program) -> bool:
    return True


def _guarded(program: Program) -> ast.If | None:
    """`if __name__ == "__main__":` of the script."""
    return next((node for node in program.main.body if isinstance(node, ast.If) and "__main__" in ast.dump(node)), None)


def _in_thread(program: Program) -> bool:
    """The program runs in a thread of its own."""
    guard = _guarded(program)
    if guard is None:
        return False
    started = ast.parse("def started():\n    pass").body[0]
    assert isinstance(started, Function)
    started.body = guard.body
    names = {node.id for each in guard.body for node in ast.walk(each) if _is_store(node)}
    if names:
        started.body.insert(0, ast.Global(sorted(names)))
    guard.body = [
        started,
        *ast.parse("import threading\nthread = threading.Thread(target=started)\nthread.start()\nthread.join()").body,
    ]
    return True


def _is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _in_method(program: Program) -> bool:
    """The script's `main` is a method of a class."""
    at = next((at for at, each in enumerate(program.main.body) if getattr(each, "name", "") == "main"), None)
    if at is None or not isinstance(function := program.main.body[at], Function):
        return False
    around = ast.parse("class Experiment:\n    pass\nmain = Experiment().main").body
    function.args.args.insert(0, ast.arg("self"))
    around[0].body = [function]  # type: ignore[attr-defined]
    program.main.body[at : at + 1] = around
    return True


def _through_helper(program: Program) -> bool:
    """What the truth's statements assign goes through a call."""
    changed = False
    for name, statement in program.marked.values():
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            statement.value = ast.Call(_kit("handed"), [statement.value], [])
            _import_kit(program.files[name])
            changed = True
    return changed


def _through_generators(program: Program) -> bool:
    """All loops take their items from a generator."""
    changed = False
    for tree in program.files.values():
        loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
        for loop in loops:
            loop.iter = ast.Call(_kit("handed_on"), [loop.iter], [])
        if loops:
            _import_kit(tree)
        changed |= bool(loops)
    return changed


def _decorated(program: Program) -> bool:
    """The functions of the truth's statements are decorated."""
    changed = False
    for function in program.functions_of_truth():
        if not function.decorator_list and not function.name.startswith("__"):
            function.decorator_list.append(_kit("noted"))
            changed = True
    if changed:
        _import_everywhere(program)
    return changed


def _import_everywhere(program: Program) -> None:
    for tree in program.files.values():
        if KIT in ast.dump(tree):
            _import_kit(tree)


def _in_context(program: Program) -> bool:
    """The functions of the truth's statements run in a `with` statement."""
    functions = program.functions_of_truth()
    for function in functions:
        item = ast.withitem(ast.Call(_kit("span"), [ast.Constant(function.name)], []))
        inside = [each for each in function.body if not isinstance(each, (ast.Nonlocal, ast.Global))]
        before = [each for each in function.body if isinstance(each, (ast.Nonlocal, ast.Global))]
        function.body = [*before, ast.With([item], inside)]
    _import_everywhere(program)
    return bool(functions)


def _named_results(program: Program) -> bool:
    """Tuples of names that are returned have named fields."""
    changed = False
    for tree in program.files.values():
        for node in ast.walk(tree):
            names = node.value.elts if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) else []
            words = [each.id for each in names if isinstance(each, ast.Name)]
            public = len(set(words)) == len(names) and not any(word.startswith("_") for word in words)
            if isinstance(node, ast.Return) and words and public:
                kind = ast.Call(_kit("fields"), [ast.Constant(word) for word in words], [])
                node.value = ast.Call(kind, names, [])
                changed = True
    _import_everywhere(program)
    return changed


def _boxed(program: Program) -> bool:
    """Local variables of the truth's functions are attributes of one local object."""
    return _move_locals(program, f"{KIT}.SimpleNamespace()", lambda word: f"box.{word}")


def _in_dict(program: Program) -> bool:
    """Local variables of the truth's functions are entries of one local dict."""
    return _move_locals(program, "{}", lambda word: f"box[{word!r}]")


def _move_locals(program: Program, made: str, spelling: Callable[[str], str]) -> bool:
    changed = False
    words = {place.name for place in program.truth.places}
    for function in program.functions_of_truth():
        own = {node.id for node in _own_nodes(function) if _is_store(node)} - _outside(function)
        if not own & words:
            continue
        _Moved({word: spelling(word) for word in own}).visit_body(function)
        function.body.insert(0, ast.parse(f"box = {made}").body[0])
        changed = True
    _import_everywhere(program)
    return changed


def _outside(function: Function) -> set[str]:
    """Names that are not simply the function's own: declared elsewhere, of comprehensions, caught exceptions."""
    found = {name for node in ast.walk(function) if isinstance(node, (ast.Nonlocal, ast.Global)) for name in node.names}
    for node in ast.walk(function):
        if isinstance(node, ast.comprehension):
            found |= {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
        if isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        if isinstance(node, ast.arg):
            found.add(node.arg)
    return found


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function but those of functions and classes inside."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


class _Moved(ast.NodeTransformer):
    """Spells names in another way."""

    def __init__(self, spelled: dict[str, str]) -> None:
        self._spelled = spelled

    def visit_body(self, function: Function) -> None:
        for statement in function.body:
            self.visit(statement)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._spelled:
            return node
        found = ast.parse(self._spelled[node.id], mode="eval").body
        assert isinstance(found, (ast.Attribute, ast.Subscript))
        found.ctx = node.ctx
        return found


def _attribute_as_entry(program: Program) -> bool:
    """An attribute that the truth names, only ever used as `self.name` in one class, is an entry of a dict."""
    changed = False
    for word in {place.name for place in program.truth.places}:
        uses = [node for tree in program.files.values() for node in ast.walk(tree) if getattr(node, "attr", "") == word]
        classes = [
            node
            for tree in program.files.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and any(each in uses for each in ast.walk(node))
        ]
        own = all(isinstance(use.value, ast.Name) and use.value.id == "self" for use in uses)  # type: ignore[attr-defined]
        makers = [each for kind in classes[:1] for each in kind.body if getattr(each, "name", "") == "__init__"]
        texts = any(word == node.value for tree in program.files.values() for node in _constants(tree))
        if not uses or len(classes) != 1 or not own or len(makers) != 1 or "Module" in ast.dump(classes[0]) or texts:
            continue
        maker = makers[0]
        assert isinstance(maker, Function)
        for use in uses:
            entry = ast.parse(f"self.things[{word!r}]", mode="eval").body
            assert isinstance(entry, ast.Subscript)
            use.__class__ = ast.Subscript  # type: ignore[assignment]
            use.__dict__.update(value=entry.value, slice=entry.slice)
        maker.body.insert(0, ast.parse("self.things = self.__dict__.get('things', {})").body[0])
        changed = True
    return changed


def _constants(tree: ast.Module) -> Iterator[ast.Constant]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _beside(name: str, *, at_start: str = "") -> Callable[[Program], bool]:
    """After each optimizer's step, or where there is none first in the truth's functions, something else is done."""

    def rewrite(program: Program) -> bool:
        changed = False
        for body in (body for tree in program.files.values() for body in list(bodies(tree))):
            at = [number for number, node in enumerate(body) if _steps(node)]
            for number in reversed(at):
                body.insert(number + 1, _call_kit(name))
                changed = True
        if not changed:
            for function in program.functions_of_truth():
                if function.name != "forward" and not function.name.startswith("__"):
                    function.body.insert(0, _call_kit(name))
                    changed = True
        guard = _guarded(program)
        if at_start and guard is None:
            return False
        if at_start and guard is not None:
            guard.body.insert(0, _call_kit(at_start, _stock_bytes(program.truth)))
        _import_everywhere(program)
        return changed

    return rewrite


def _stock_bytes(truth: Truth) -> int:
    grown = (truth.growth_bytes_per_step or 0) * truth.steps
    return min(int(4 * max(truth.carried_bytes or 0, truth.peak_drop_bytes or 0, grown)), 256 << 20)


def _steps(node: ast.stmt) -> bool:
    """`optimizer.step()`, by any name that says so."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
        return False
    return "opt" in ast.unparse(call.func.value).lower()


def _warmed_up(program: Program) -> bool:
    """Another model is trained and let go before."""
    guard = _guarded(program)
    if guard is None:
        return False
    guard.body.insert(0, _call_kit("warm_up"))
    _import_everywhere(program)
    return True


def _accumulating(program: Program) -> bool:
    """Optimizers step every second time."""
    changed = False
    for name, tree in program.files.items():
        for body in list(bodies(tree)):
            for at, node in enumerate(body):
                if _steps(node):
                    asked = ast.Call(_kit("turn"), [ast.Constant(f"{name} {node.lineno}"), ast.Constant(2)], [])
                    body[at] = ast.If(asked, [node], [])
                    changed = True
    _import_everywhere(program)
    return changed


def _called_twice(program: Program) -> bool:
    """Models whose result is assigned are called without a graph before."""
    changed = False
    for body in (body for tree in program.files.values() for body in list(bodies(tree))):
        for at in reversed(range(len(body))):
            node = body[at]
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_model(node.value.func):
                look = ast.parse("with zoo_beside.torch.no_grad():\n    pass").body[0]
                assert isinstance(look, ast.With)
                look.body = [ast.Expr(copy.deepcopy(node.value))]
                body.insert(at, look)
                changed = True
    _import_everywhere(program)
    return changed


def _is_model(function: ast.expr) -> bool:
    word = ast.unparse(function).rpartition(".")[2].lower()
    return any(each in word for each in ("model", "net", "policy", "student", "decoder", "encoder", "generator"))


def _other_mode(program: Program) -> bool:
    """`no_grad` is `inference_mode`."""
    found = [
        node for tree in program.files.values() for node in ast.walk(tree) if getattr(node, "attr", "") == "no_grad"
    ]
    for node in found:
        node.attr = "inference_mode"  # type: ignore[attr-defined]
    return bool(found)


_COUNTS = ("steps", "count", "exposures", "updates", "rounds", "episodes", "tasks", "epochs", "STEPS", "decisions")


def _longer(factor: float) -> Callable[[Program], bool]:
    """The loops of the script run `factor` times as often."""

    def rewrite(program: Program) -> bool:
        found = [*_defaults(program.main, _COUNTS), *_given(program.main, _COUNTS)]
        found = [each for each in found if isinstance(each.value, int) and each.value >= 16]
        for constant in found[:1]:
            constant.value = int(constant.value * factor)
        return bool(found)

    return rewrite


def _given(tree: ast.AST, names: Iterable[str]) -> Iterator[ast.Constant]:
    """Constants that keyword arguments, variables and `range` are given."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in names and isinstance(node.value, ast.Constant):
            yield node.value
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            yield from [node.value] if getattr(node.targets[0], "id", "") in names else []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range":
            yield from [each for each in node.args[-1:] if isinstance(each, ast.Constant)]


def _defaults(tree: ast.AST, names: Iterable[str]) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, Function):
            with_default = zip(node.args.args[::-1], node.args.defaults[::-1], strict=False)
            yield from (each for arg, each in with_default if arg.arg in names and isinstance(each, ast.Constant))
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant):
            yield from [node.value] if getattr(node.target, "id", "") in names else []


_WIDTHS = ("hidden", "width", "dim", "channels", "inner", "features", "size", "units")


def _wider(program: Program) -> bool:
    """Widths that are named are doubled."""
    found = [
        each
        for tree in program.files.values()
        for each in (*_defaults(tree, _WIDTHS), *_given(tree, _WIDTHS))
        if isinstance(each.value, int) and not isinstance(each.value, bool) and each.value >= 8
    ]
    for constant in found:
        constant.value *= 2
    return bool(found)


_BATCHES = ("batch", "batch_size", "size", "count", "rows", "per_device_batch_size", "n", "clips", "pictures")
_MAKERS = ("randn", "rand", "randint", "zeros", "ones", "full", "empty")


def _varied(program: Program) -> bool:
    """Batches that a function makes have another length each time."""
    changed = False
    for tree in program.files.values():
        for function in [node for node in ast.walk(tree) if isinstance(node, Function) and node.name != "__init__"]:
            names = [name for call in _own_nodes(function) for name in _first_sizes(call)]
            for name in names:
                name.__dict__["varied"] = True
            if names:
                _Varied().visit(function)
                inner = [node for node in _own_nodes(function) if isinstance(node, Loop) and "length" in ast.dump(node)]
                (inner[0].body if inner else function.body).insert(0, _call_kit("next_length"))
                changed = True
    _import_everywhere(program)
    return changed


def _first_sizes(call: ast.AST) -> Iterator[ast.expr]:
    """The first dimension's name in a call that makes a tensor."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _MAKERS:
        for given in call.args[:3]:
            first = given.elts[0] if isinstance(given, ast.Tuple) and given.elts else given
            if isinstance(first, (ast.Name, ast.Attribute)) and ast.unparse(first).rpartition(".")[2] in _BATCHES:
                yield first
                return


class _Varied(ast.NodeTransformer):
    def visit(self, node: ast.AST) -> ast.AST:
        if node.__dict__.pop("varied", False):
            return ast.Call(_kit("length"), [node], [])
        return self.generic_visit(node)


@dataclass(frozen=True)
class Rewriting:
    """One way to write a program anew."""

    change: Callable[[Program], bool]
    keeps_bytes: bool = True


REWRITINGS = {
    "plain": Rewriting(_plain),
    "longer": Rewriting(_longer(3)),
    "shorter": Rewriting(_longer(0.5)),
    "wider": Rewriting(_wider, keeps_bytes=False),
    "varied": Rewriting(_varied, keeps_bytes=False),
    "in thread": Rewriting(_in_thread),
    "in method": Rewriting(_in_method),
    "through helper": Rewriting(_through_helper),
    "through generators": Rewriting(_through_generators),
    "decorated": Rewriting(_decorated),
    "in context": Rewriting(_in_context),
    "named results": Rewriting(_named_results),
    "boxed": Rewriting(_boxed),
    "in dict": Rewriting(_in_dict),
    "attribute as entry": Rewriting(_attribute_as_entry),
    "validation beside": Rewriting(_beside("validate")),
    "look beside": Rewriting(_beside("look")),
    "training beside": Rewriting(_beside("train")),
    "cache beside": Rewriting(_beside("remember")),
    "collections": Rewriting(_beside("collect")),
    "data set beside": Rewriting(_beside("draw", at_start="stock")),
    "warmed up": Rewriting(_warmed_up),
    "accumulating": Rewriting(_accumulating),
    "called twice": Rewriting(_called_twice),
    "other mode": Rewriting(_other_mode),
}
