"""Which binding of a variable is the one in force at a line: reaching definitions, loops and branches considered."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from tenure.model.source import SourceFile
from tenure.syntax.text.scopes import COMPREHENSION_NAMES, MODULE, FunctionNode, inner_bodies, parse, statements
from tenure.syntax.text.tree_walks import children, walk

State = frozenset[int] | None
"""Lines whose binding may be in force; None where control cannot be."""
_BINDING = frozenset({ast.Assign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
"""Statements that have bound their names once they have run."""
_FEW_STATEMENTS = 8
"""So many are gone through one by one."""
_KEPT_OF_BODY = "_effects"
_KEPT = "_names_bound"
"""The attribute of a syntax node under which the names that it binds are kept."""


@lru_cache(maxsize=1024)
def reaching_lines(source: SourceFile, function: str, name: str, line: int) -> frozenset[int]:
    """Lines of the bindings of `name` that may be in force while a frame of `function` executes `line`.

    A binding on the line itself counts only where a loop brings it round: the statement has not finished. A
    parameter counts as bound at the `def` line. Empty where the function or the line is not found, or where no
    binding can reach. What an exception may leave bound is counted generously.
    """
    body, start = _function_body(source, function, line)
    if not body or body[0].lineno > line:
        return frozenset()
    flow = _Flow(name, line)
    certain = _last_certain(body, name, line)
    if certain >= 0:  # whatever was bound before is not any more
        flow.body(body, frozenset(), certain)
    else:
        flow.body(body, start if name in _parameters(source, function, line) else frozenset())
    return flow.found


def _last_certain(body: Sequence[ast.stmt], name: str, line: int) -> int:
    """The place in a function's body of the last statement before a line that always binds a name; -1: none does."""
    for at in reversed(_effects(body).changing.get(name, ())):
        node = body[at]
        if type(node) in _BINDING and (node.end_lineno or line) < line and _binds(node, name):
            return at
    return -1


@dataclass(frozen=True)
class _Effects:
    """What the statements of a body may do to variables: the places of those that may bind or delete each, of those
    that control may leave by another way than to the next, and where each begins and ends."""

    changing: dict[str, list[int]]
    leaving: list[int]
    first_lines: list[int]
    last_lines: list[int]

    def places(self, name: str, line: int, start: int) -> list[int]:
        """The statements from place `start` on that a walk has to look at: any other leaves the state as it was."""
        around = range(bisect_left(self.last_lines, line), bisect_right(self.first_lines, line))
        return [at for at in sorted({*self.changing.get(name, ()), *self.leaving, *around}) if at >= start]


def _effects(body: Sequence[ast.stmt]) -> _Effects:
    """Those of a body, kept on its first statement."""
    known: _Effects | None = body[0].__dict__.get(_KEPT_OF_BODY)
    if known is None:
        changing: dict[str, list[int]] = {}
        for at, node in enumerate(body):
            for name in dict.fromkeys(_changed_in(node)):
                changing.setdefault(name, []).append(at)
        leaving = [at for at, node in enumerate(body) if _leaves(node)]
        ends = (node.end_lineno or node.lineno for node in body)
        known = _Effects(changing, leaving, [node.lineno for node in body], list(accumulate(ends, max)))
        body[0].__dict__[_KEPT_OF_BODY] = known
    return known


def _leaves(node: ast.stmt) -> bool:
    """Whether control does not come out of a statement, or may leave the loop around it or its turn."""
    flow = _Flow("", 0)
    return flow.statement(node, frozenset()) is None or bool(flow.breaks or flow.continues)


def _changed_in(node: ast.stmt) -> Iterator[str]:
    """Names that a statement, or one inside it, may bind or delete; more rather than fewer."""
    for part in _simple_parts(node):
        if isinstance(part, ast.Delete):
            yield from (item.id for item in walk(part) if isinstance(item, ast.Name))
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield part.name
        else:
            yield from _bound_in(part)
    for item in statements([node]):
        if isinstance(item, ast.Match):
            yield from _bound_in(item.subject)
        yield from (each.name for each in getattr(item, "handlers", ()) if each.name)


@lru_cache(maxsize=256)
def _functions(source: SourceFile) -> dict[str, list[FunctionNode | ast.ClassDef]]:
    found: dict[str, list[FunctionNode | ast.ClassDef]] = {}

    def enter(body: Sequence[ast.stmt], prefix: str) -> None:
        for node in statements(body):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                qualname = prefix + node.name
                found.setdefault(qualname, []).append(node)
                enter(node.body, qualname + ("." if isinstance(node, ast.ClassDef) else ".<locals>."))

    enter(parse(source).body, "")
    return found


def _definition(source: SourceFile, function: str, line: int) -> FunctionNode | ast.ClassDef | None:
    for node in _functions(source).get(function, ()):
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            return node
    return None


def _function_body(source: SourceFile, function: str, line: int) -> tuple[Sequence[ast.stmt], frozenset[int]]:
    if function in ("", MODULE):
        return parse(source).body, frozenset()
    node = _definition(source, function, line)
    return (node.body, frozenset({node.lineno})) if node is not None else ((), frozenset())


def _parameters(source: SourceFile, function: str, line: int) -> set[str]:
    node = _definition(source, function, line) if function else None
    if node is None or isinstance(node, ast.ClassDef):
        return set()
    return {item.arg for item in walk(node.args) if isinstance(item, ast.arg)}


class _Flow:
    """One walk in the order of execution; states only grow, so what is found may be collected on the way."""

    def __init__(self, name: str, line: int) -> None:
        self.name = name
        self.line = line
        self.found: frozenset[int] = frozenset()
        self.breaks: list[State] = []
        self.continues: list[State] = []

    def body(self, body: Sequence[ast.stmt], state: State, start: int = 0) -> State:
        if state is None or len(body) - start <= _FEW_STATEMENTS:
            places: Sequence[int] = range(start, len(body))
        else:
            places = _effects(body).places(self.name, self.line, start)
        for at in places:
            if state is None:
                return None
            state = self.statement(body[at], state)
        return state

    def statement(self, node: ast.stmt, state: frozenset[int]) -> State:
        if node.lineno <= self.line <= _head_end(node):
            self.found |= state
        if isinstance(node, (ast.Return, ast.Raise)):
            return None
        if isinstance(node, ast.Break):
            self.breaks.append(state)
            return None
        if isinstance(node, ast.Continue):
            self.continues.append(state)
            return None
        if isinstance(node, ast.If):
            return self.if_(node, state)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self.loop(node, state)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                state = self._bind(state, item)
            return self.body(node.body, state)
        if isinstance(node, ast.Match):
            return self.match(node, state)
        if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self.try_(node, state)  # type: ignore[arg-type]
        return self._bind(state, node)

    def if_(self, node: ast.If, state: frozenset[int]) -> State:
        ends: list[State] = []
        while True:  # `elif` chains nest in the tree; they may be longer than the stack is deep
            if node.lineno <= self.line <= _head_end(node):
                self.found |= state
            state = self._bind(state, node.test)
            ends.append(self.body(node.body, state))
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                return _join(*ends, self.body(node.orelse, state))
            node = node.orelse[0]

    def loop(self, node: ast.For | ast.AsyncFor | ast.While, state: frozenset[int]) -> State:
        head, leave = state, frozenset[int]()
        test = node.test if isinstance(node, ast.While) else None
        endless = isinstance(test, ast.Constant) and bool(test.value)
        breaks, continues = self.breaks, self.continues
        while True:
            self.breaks, self.continues = [], []
            if node.lineno <= self.line <= _head_end(node):
                self.found |= head
            entered = self._bind(head, test if test is not None else node.target)  # type: ignore[union-attr]
            if isinstance(node, (ast.For, ast.AsyncFor)) and _binds(node.target, self.name):
                entered = frozenset({node.lineno})
            after = _join(self.body(node.body, entered), *self.continues)
            leave = leave.union(*(item for item in self.breaks if item is not None))
            left = bool(self.breaks)
            grown = head | after if after is not None else head
            if grown == head:
                break
            head = grown
        self.breaks, self.continues = breaks, continues
        if endless:
            return leave if left else None
        return _join(self.body(node.orelse, head), leave if left else None)

    def match(self, node: ast.Match, state: frozenset[int]) -> State:
        state = self._bind(state, node.subject)
        ends: list[State] = [state]
        for case in node.cases:
            ends.append(self.body(case.body, self._bind(state, case.pattern)))
        return _join(*ends)

    def try_(self, node: ast.Try, state: frozenset[int]) -> State:
        raised = state | self._all_bindings(node.body)
        end = self.body(node.body, state)
        ends = [self.body(node.orelse, end)]
        for handler in node.handlers:
            caught = frozenset({handler.lineno}) if handler.name == self.name else raised
            if handler.lineno == self.line:
                self.found |= caught
            ends.append(self.body(handler.body, caught))
        normal = _join(*ends)
        if not node.finalbody:
            return normal
        anything = raised.union(*(self._all_bindings(handler.body) for handler in node.handlers))
        self.body(node.finalbody, anything)
        return self.body(node.finalbody, normal)

    def _bind(self, state: frozenset[int], node: ast.AST) -> frozenset[int]:
        if isinstance(node, ast.Delete):
            names = {item.id for item in walk(node) if isinstance(item, ast.Name)}
            return frozenset() if self.name in names else state
        line = _binds(node, self.name)
        return frozenset({line}) if line else state

    def _all_bindings(self, body: Sequence[ast.stmt]) -> frozenset[int]:
        lines = (_binds(node, self.name) for top in body for node in _simple_parts(top))
        return frozenset(line for line in lines if line)


def _join(*states: State) -> State:
    known = [state for state in states if state is not None]
    return frozenset().union(*known) if known else None


def _simple_parts(node: ast.stmt) -> list[ast.AST]:
    """A statement and all statements inside it, compound ones by their heads."""
    parts: list[ast.AST] = []
    for item in statements([node]):
        if isinstance(item, (ast.For, ast.AsyncFor)):
            parts.append(item.target)
        elif isinstance(item, (ast.With, ast.AsyncWith)):
            parts.extend(item.items)
        elif isinstance(item, (ast.If, ast.While)):
            parts.append(item.test)
        elif isinstance(item, ast.Match):
            parts.extend(case.pattern for case in item.cases)
        elif not inner_bodies(item) or isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            parts.append(item)
    return parts


def _head_end(node: ast.stmt) -> int:
    """The last line of a simple statement, of a compound one the last before its body."""
    bodies = inner_bodies(node)
    if not bodies:
        return node.end_lineno or node.lineno
    return max(node.lineno, bodies[0][0].lineno - 1)


def _binds(node: ast.AST, name: str) -> int:
    """The line at which a statement or expression binds a name in its own scope; 0 if it does not."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.lineno if node.name == name else 0
    return _bound_in(node).get(name, 0)


def _bound_in(node: ast.AST) -> dict[str, int]:
    """Names that a statement or expression binds in its own scope, each with the line; kept on the node."""
    known: dict[str, int] | None = node.__dict__.get(_KEPT)
    if known is None:
        known = {}
        for item in _own_nodes(node):
            name = _bound_name(item)
            if name and name not in known:
                line = getattr(node, "lineno", 0) if isinstance(node, ast.stmt) else getattr(item, "lineno", 0)
                known[name] = node.context_expr.lineno if isinstance(node, ast.withitem) else line
        node.__dict__[_KEPT] = known
    return known


def _bound_name(item: ast.AST) -> str:
    if isinstance(item, ast.Name):
        return item.id if isinstance(item.ctx, ast.Store) else ""
    if isinstance(item, (ast.MatchAs, ast.MatchStar)):
        return item.name or ""
    if isinstance(item, ast.MatchMapping):
        return item.rest or ""
    return (item.asname or item.name.partition(".")[0]) if isinstance(item, ast.alias) else ""


def _own_nodes(node: ast.AST) -> list[ast.AST]:
    """All nodes below that bind in the same scope: targets of comprehensions and lambdas' bodies left out."""
    found, stack = [], [node]
    while stack:
        item = stack.pop()
        found.append(item)
        if isinstance(item, ast.Lambda):
            continue
        if type(item) in COMPREHENSION_NAMES:
            stack.extend(inner.target for inner in walk(item) if isinstance(inner, ast.NamedExpr))
            continue
        stack.extend(children(item))
    return found
