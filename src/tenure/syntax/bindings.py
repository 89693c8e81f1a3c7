"""Every statement of a file that binds a name or stores something in an object, as one flat list.

Read from the syntax tree alone: what a statement may do, not what it did. Costs about as much as parsing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tenure.model.source import SourceFile
from tenure.syntax.scopes import COMPREHENSION_NAMES, MODULE, FunctionNode, decorator_name, dotted, parse

GROWING_METHODS = frozenset(
    [
        "append",
        "appendleft",
        "extend",
        "extendleft",
        "insert",
        "add",
        "push",
        "put",
        "put_nowait",
        "update",
        "setdefault",
    ]
)
GROWING_FUNCTIONS = frozenset({"heappush", "heappushpop", "insort", "insort_left", "insort_right"})
HOOK_CALLS = frozenset(
    {"atexit.register", "signal.signal", "weakref.finalize", "sys.settrace", "sys.setprofile"}
)
CACHE_NAMES = frozenset({"lru_cache", "cache", "cached_property", "cachedmethod", "cached", "memoize"})
_STORED_BY_NAME = frozenset({"register_buffer", "register_parameter", "register_module", "add_module"})
_TEXT_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement (or expression) that makes or drops a reference.

    For variables `name` is the variable and `receiver` empty; for attributes and containers `name` is the last name
    before the store (`history` of `self.history[k].append(x)`) and `receiver` what stands before it (`self`).
    `function` is the qualified name of the enclosing function or class body ("<module>" at top level);
    comprehensions count as part of their function, lambdas do not.
    """

    line: int
    end_line: int
    function: str
    kind: str
    """assign, unpack, walrus, annotated, augmented, with, for, except, match, import, del, definition, parameter,
    comprehension (a target), attribute, item, grow (append and the like), hook, default, closure, cache, class,
    field, ctx, property, partial or yield."""
    name: str
    receiver: str = ""
    value_text: str = ""
    """The value as written, cut at 200 characters; the imported name in full for imports."""
    in_loop: bool = False
    method: str = ""
    """append, register_forward_hook, ...; for `del` of an item or attribute what is deleted."""
    value_kind: str = ""
    """none, constant, empty (a display or call without content), display, comprehension, call or other."""
    owner: str = ""
    """Qualified name of the scope where the variable lives, for receivers that of their first name; "" unknown."""
    class_name: str = ""
    """Qualified name of the class whose method (or body) this is in."""
    on_self: bool = False
    """The receiver is the method's own object or class."""
    key: str = ""
    """The constant key of an item assignment."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call with at least one plain name or attribute among its arguments, to follow containers into helpers."""

    line: int
    end_line: int
    function: str
    callee: str
    """As written: `helpers.store`."""
    arguments: tuple[tuple[int | str, str], ...]
    """Position or keyword, and the argument as written; "" where it is no name or attribute."""
    class_name: str = ""
    owner: str = ""
    """Unused names aside: the scope in which the first name of `callee` lives."""
    argument_owners: tuple[str, ...] = ()
    """For each argument the scope in which its first name lives."""
    in_loop: bool = False


@lru_cache(maxsize=1024)
def bindings(source: SourceFile) -> tuple[Binding, ...]:
    """All bindings of a file by line. The same tuple for the same text; raises SourceError as `parse` does."""
    return _collected(source)[0]


@lru_cache(maxsize=1024)
def calls(source: SourceFile) -> tuple[Call, ...]:
    """All calls of a file that pass a name or attribute on."""
    return tuple(_collected(source)[1]())


@lru_cache(maxsize=64)
def _collected(source: SourceFile) -> tuple[tuple[Binding, ...], Callable[[], Iterator[Call]]]:
    collector = _Collector(source.text)
    collector.module(parse(source))
    return collector.finished(), collector.calls


@dataclass(eq=False)
class _Scope:
    kind: str
    qualname: str
    function: str
    parent: _Scope | None = None
    class_name: str = ""
    self_name: str = ""
    bound: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    line: int = 0
    end_line: int = 0

    def inner_name(self, name: str) -> str:
        if self.kind == "module":
            return name
        return f"{self.qualname}.{name}" if self.kind == "class" else f"{self.qualname}.<locals>.{name}"

    def owner_of(self, name: str) -> str:
        """The scope in which a name used here lives; "" for builtins and names nobody binds."""
        scope: _Scope | None = self
        first = True
        while scope is not None:
            if name in scope.global_names:
                return MODULE
            visible = first or scope.kind != "class"
            if visible and name in scope.bound and name not in scope.nonlocal_names:
                return scope.qualname
            first = False
            scope = scope.parent
        return ""


@dataclass(slots=True)
class _Draft:
    scope: _Scope
    node: ast.AST
    kind: str
    name: str
    receiver: str
    value: ast.AST | None
    in_loop: bool
    method: str = ""
    text: str | None = None
    key: str = ""


_SKIPPED = frozenset(
    {"ctx", "op", "ops", "kind", "type_comment", "lineno", "conversion", "attr", "id", "arg", "n"}
)
_children: dict[type, tuple[str, ...]] = {}


def _child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    fields = _children.get(kind)
    if fields is None:
        skipped = () if issubclass(kind, ast.Constant) else _SKIPPED
        fields = _children[kind] = tuple(
            name for name in kind._fields if name not in skipped and kind is not ast.Constant
        )
    return fields


class _Collector:
    """One walk over a tree; `depth` counts the loops of the current function around the current statement."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.drafts: list[_Draft] = []
        self.call_nodes: list[tuple[ast.Call, _Scope, bool]] = []
        self.scopes: list[_Scope] = []
        self.depth = 0

    # scopes

    def module(self, tree: ast.Module) -> None:
        scope = _Scope("module", MODULE, MODULE)
        self.scopes.append(scope)
        self.body(tree.body, scope)

    def _enter(self, kind: str, name: str, parent: _Scope, node: ast.AST) -> _Scope:
        outside = parent
        while outside.kind == "comprehension" and outside.parent is not None and kind == "comprehension":
            outside = outside.parent
        qualname = parent.inner_name(name)
        scope = _Scope(kind, qualname, parent.function if kind == "comprehension" else qualname, parent)
        scope.class_name = qualname if kind == "class" else parent.class_name
        scope.self_name = parent.self_name if kind != "class" else ""
        scope.line = getattr(node, "lineno", 0)
        scope.end_line = getattr(node, "end_lineno", None) or scope.line
        self.scopes.append(scope)
        return scope

    def add(
        self,
        scope: _Scope,
        node: ast.AST,
        kind: str,
        name: str,
        *,
        receiver: str = "",
        value: ast.AST | None = None,
        method: str = "",
        text: str | None = None,
        key: str = "",
    ) -> None:
        in_loop = self.depth > 0 or scope.kind == "comprehension"
        self.drafts.append(_Draft(scope, node, kind, name, receiver, value, in_loop, method, text, key))

    # statements

    def body(self, body: Sequence[ast.stmt], scope: _Scope) -> None:
        for node in body:
            self.statement(node, scope)

    def statement(self, node: ast.AST, scope: _Scope) -> None:
        handler = _STATEMENTS.get(type(node))
        if handler is not None:
            handler(self, node, scope)
        elif isinstance(node, ast.expr):
            self.expression(node, scope)
        else:
            self.children(node, scope)

    def children(self, node: ast.AST, scope: _Scope) -> None:
        for name in _child_fields(type(node)):
            value = getattr(node, name, None)
            if isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        self.statement(item, scope)
            elif isinstance(value, ast.AST):
                self.statement(value, scope)

    def function(self, node: FunctionNode, scope: _Scope) -> None:
        for decorator in node.decorator_list:
            self.expression(decorator, scope)
        scope_bind(scope, node.name)
        inner = self._enter("function", node.name, scope, node)
        names = [decorator_name(item).rpartition(".")[2] for item in node.decorator_list]
        self.add(scope, node, "definition", node.name)
        if CACHE_NAMES.intersection(names):
            self.add(scope, node, "cache", node.name, method=next(n for n in names if n in CACHE_NAMES))
        if "property" in names or "cached_property" in names:
            last = node.body[-1]
            if isinstance(last, ast.Return) and (text := dotted(last.value)):
                self.add(scope, node, "property", node.name, text=text)
        self.arguments(
            node.args, inner, scope, is_method=scope.kind == "class" and "staticmethod" not in names
        )
        if node.returns is not None:
            self.expression(node.returns, scope)
        self._inside(lambda: self.body(node.body, inner))

    def _inside(self, walk: Callable[[], None]) -> None:
        depth, self.depth = self.depth, 0
        walk()
        self.depth = depth

    def arguments(self, arguments: ast.arguments, inner: _Scope, outer: _Scope, *, is_method: bool) -> None:
        plain = [*arguments.posonlyargs, *arguments.args]
        if is_method and plain:
            inner.self_name = plain[0].arg
        every = [*plain, *arguments.kwonlyargs, *filter(None, (arguments.vararg, arguments.kwarg))]
        depth, self.depth = self.depth, 0
        for argument in every:
            inner.bound.add(argument.arg)
            self.add(inner, argument, "parameter", argument.arg)
        self.depth = depth
        defaults: list[tuple[ast.arg, ast.expr]] = []
        if arguments.defaults:
            defaults += zip(plain[-len(arguments.defaults) :], arguments.defaults, strict=True)
        defaults += [
            (a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None
        ]
        for argument, default in defaults:
            self.expression(default, outer)
            self.add(inner, argument, "default", argument.arg, value=default)

    def class_(self, node: ast.ClassDef, scope: _Scope) -> None:
        for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.expression(part, scope)
        scope_bind(scope, node.name)
        self.add(scope, node, "definition", node.name)
        inner = self._enter("class", node.name, scope, node)
        names = {decorator_name(item).rpartition(".")[2] for item in node.decorator_list}
        bases = {dotted(base).rpartition(".")[2] for base in node.bases}
        if names & {"dataclass", "define", "frozen", "mutable", "attrs"} or "NamedTuple" in bases:
            inner.kind = "class"
            inner.loaded.add("<fields>")
        if any(base.endswith("Function") for base in bases):
            inner.loaded.add("<autograd>")
        self._inside(lambda: self.body(node.body, inner))

    def assign(self, node: ast.Assign, scope: _Scope) -> None:
        self.expression(node.value, scope)
        for target in node.targets:
            self.target(target, scope, node, "assign", node.value)

    def annotated(self, node: ast.AnnAssign, scope: _Scope) -> None:
        if node.value is not None:
            self.expression(node.value, scope)
        in_fields = scope.kind == "class" and "<fields>" in scope.loaded
        if node.value is None and not in_fields:
            return
        self.target(node.target, scope, node, "field" if in_fields else "annotated", node.value)

    def augmented(self, node: ast.AugAssign, scope: _Scope) -> None:
        self.expression(node.value, scope)
        self.target(node.target, scope, node, "augmented", node.value)

    def for_(self, node: ast.For | ast.AsyncFor, scope: _Scope) -> None:
        self.expression(node.iter, scope)
        self.depth += 1
        self.target(node.target, scope, node, "for", node.iter)
        self.body(node.body, scope)
        self.depth -= 1
        self.body(node.orelse, scope)

    def while_(self, node: ast.While, scope: _Scope) -> None:
        self.depth += 1
        self.expression(node.test, scope)
        self.body(node.body, scope)
        self.depth -= 1
        self.body(node.orelse, scope)

    def with_(self, node: ast.With | ast.AsyncWith, scope: _Scope) -> None:
        for item in node.items:
            self.expression(item.context_expr, scope)
            if item.optional_vars is not None:
                self.target(item.optional_vars, scope, item.context_expr, "with", item.context_expr)
        self.body(node.body, scope)

    def handler(self, node: ast.ExceptHandler, scope: _Scope) -> None:
        if node.type is not None:
            self.expression(node.type, scope)
        if node.name:
            scope_bind(scope, node.name)
            self.add(scope, node, "except", node.name, value=node.type)
        self.body(node.body, scope)

    def pattern(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping, scope: _Scope) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            scope_bind(scope, name)
            self.add(scope, node, "match", name)
        self.children(node, scope)

    def import_(self, node: ast.Import | ast.ImportFrom, scope: _Scope) -> None:
        module = ""
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            module += "." if node.module else ""
        for item in node.names:
            name = item.asname or (item.name if module else item.name.partition(".")[0])
            scope_bind(scope, name)
            self.add(scope, node, "import", name, text=module + item.name)

    def delete(self, node: ast.Delete, scope: _Scope) -> None:
        for target in node.targets:
            for item in target.elts if isinstance(target, (ast.Tuple, ast.List)) else (target,):
                what = {ast.Name: "name", ast.Attribute: "attribute"}.get(type(item), "item")
                receiver, name = split_receiver(item)
                if what == "name":
                    scope_bind(scope, name)
                self.add(scope, node, "del", name, receiver=receiver, method=what)

    def declared(self, node: ast.Global | ast.Nonlocal, scope: _Scope) -> None:
        names = scope.global_names if isinstance(node, ast.Global) else scope.nonlocal_names
        names.update(node.names)

    # targets

    def target(
        self, target: ast.expr, scope: _Scope, node: ast.AST, kind: str, value: ast.expr | None
    ) -> None:
        if isinstance(target, ast.Name):
            while scope.kind == "comprehension" and kind == "walrus" and scope.parent is not None:
                scope = scope.parent
            scope_bind(scope, target.id)
            if scope.kind == "class" and kind in ("assign", "annotated", "unpack"):
                kind = "class"
            self.add(scope, node, kind, target.id, value=value)
        elif isinstance(target, ast.Attribute):
            self.expression(target.value, scope)
            self.attribute(target, scope, node, kind, value)
        elif isinstance(target, ast.Subscript):
            self.expression(target.value, scope)
            self.expression(target.slice, scope)
            self.item(target, scope, node, kind, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            pairs = _pairs(target, value)
            for item, part in pairs:
                self.target(item, scope, node, "unpack" if kind == "assign" else kind, part)
        elif isinstance(target, ast.Starred):
            self.target(target.value, scope, node, kind, value)

    def attribute(
        self, target: ast.Attribute, scope: _Scope, node: ast.AST, kind: str, value: ast.expr | None
    ) -> None:
        receiver = _text_of(target.value)
        if kind in ("assign", "unpack", "annotated", "walrus"):
            kind = "attribute"
        if kind == "attribute" and self._is_ctx(receiver, scope):
            kind = "ctx"
        self.add(scope, node, kind, target.attr, receiver=receiver, value=value, method="attribute")

    def _is_ctx(self, receiver: str, scope: _Scope) -> bool:
        if receiver == "ctx":
            return True
        outer = scope.parent
        return (
            outer is not None
            and outer.kind == "class"
            and "<autograd>" in outer.loaded
            and receiver == next((d.name for d in self.drafts if d.scope is scope), "")
        )

    def item(
        self, target: ast.Subscript, scope: _Scope, node: ast.AST, kind: str, value: ast.expr | None
    ) -> None:
        key = target.slice.value if isinstance(target.slice, ast.Constant) else None
        namespace = _namespace_of(target.value)
        if namespace is not None and isinstance(key, str):
            if namespace:
                self.add(scope, node, "attribute", key, receiver=namespace, value=value, method="__dict__")
            else:
                module = self.scopes[0]
                module.bound.add(key)
                self.add(module, node, "assign", key, value=value, method="globals")
            return
        receiver, name = split_receiver(target)
        kind = "augmented" if kind == "augmented" else "item"
        key_text = "" if key is None else repr(key)
        self.add(scope, node, kind, name, receiver=receiver, value=value, method="item", key=key_text)

    # expressions

    def expression(self, node: ast.AST, scope: _Scope) -> None:
        stack = [node]
        pop, extend = stack.pop, stack.extend
        while stack:
            node = pop()
            kind = type(node)
            if kind is ast.Name:
                scope.loaded.add(node.id)  # type: ignore[attr-defined]
            elif kind is ast.Attribute:
                stack.append(node.value)  # type: ignore[attr-defined]
            elif kind is ast.Constant:
                continue
            elif kind is ast.Call:
                self.call(node, scope)  # type: ignore[arg-type]
                stack.append(node.func)  # type: ignore[attr-defined]
                extend(node.args)  # type: ignore[attr-defined]
                extend([keyword.value for keyword in node.keywords])  # type: ignore[attr-defined]
            elif (special := _EXPRESSIONS.get(kind)) is not None:
                special(self, node, scope)
            else:
                for name in _child_fields(kind):
                    value = getattr(node, name, None)
                    if isinstance(value, list):
                        extend([item for item in value if isinstance(item, ast.AST)])
                    elif isinstance(value, ast.AST):
                        stack.append(value)

    def lambda_(self, node: ast.Lambda, scope: _Scope) -> None:
        inner = self._enter("function", "<lambda>", scope, node)
        self.arguments(node.args, inner, scope, is_method=False)
        self._inside(lambda: self.expression(node.body, inner))

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: _Scope
    ) -> None:
        self.expression(node.generators[0].iter, scope)
        inner = self._enter("comprehension", COMPREHENSION_NAMES[type(node)], scope, node)
        for number, generator in enumerate(node.generators):
            if number:
                self.expression(generator.iter, inner)
            self.target(generator.target, inner, generator.target, "comprehension", generator.iter)
            for condition in generator.ifs:
                self.expression(condition, inner)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            if part is not None:  # 3.15 allows `**` in dict comprehensions
                self.expression(part, inner)

    def walrus(self, node: ast.NamedExpr, scope: _Scope) -> None:
        self.expression(node.value, scope)
        self.target(node.target, scope, node, "walrus", node.value)

    def yield_(self, node: ast.Yield | ast.YieldFrom, scope: _Scope) -> None:
        if self.depth:
            self.add(scope, node, "yield", "", value=node.value)
        if node.value is not None:
            self.expression(node.value, scope)

    def call(self, node: ast.Call, scope: _Scope) -> None:
        arguments, keywords = node.args, node.keywords
        if (arguments or keywords) and any(
            type(item) in (ast.Name, ast.Attribute)
            for item in (*arguments, *(keyword.value for keyword in keywords))
        ):
            self.call_nodes.append((node, scope, self.depth > 0 or scope.kind == "comprehension"))
        function = node.func
        if isinstance(function, ast.Attribute):
            method = function.attr
            if method in GROWING_METHODS:
                if arguments or keywords:
                    self.grow(node, function.value, method, scope)
            elif method.startswith("register") or method in ("finalize", "signal", "settrace", "setprofile"):
                self.registration(node, function, scope)
            elif method in _OTHER_METHODS:
                self.other_method(node, function, scope)
        elif isinstance(function, ast.Name) and function.id in _OTHER_FUNCTIONS:
            self.other_function(node, function.id, scope)

    def grow(self, node: ast.Call, container: ast.expr, method: str, scope: _Scope) -> None:
        namespace = _namespace_of(container)
        value = node.args[-1] if node.args else node.keywords[0].value
        if namespace is not None and method == "update":
            for keyword in node.keywords:
                if keyword.arg and namespace:
                    self.add(
                        scope,
                        node,
                        "attribute",
                        keyword.arg,
                        receiver=namespace,
                        value=value,
                        method="__dict__",
                    )
            return
        receiver, name = split_receiver(container)
        if name:
            self.add(scope, node, "grow", name, receiver=receiver, value=value, method=method)

    def registration(self, node: ast.Call, function: ast.Attribute, scope: _Scope) -> None:
        method, full = function.attr, dotted(function)
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if method in _STORED_BY_NAME:
            if arguments and isinstance(name := getattr(arguments[0], "value", None), str):
                value = arguments[1] if len(arguments) > 1 else None
                receiver = _text_of(function.value)
                self.add(scope, node, "attribute", name, receiver=receiver, value=value, method=method)
        elif full in HOOK_CALLS or "hook" in method:
            last = arguments[-1] if full == "signal.signal" and arguments else next(iter(arguments), None)
            name = split_receiver(last)[1] if last is not None else ""
            if isinstance(last, ast.Lambda):
                name = "<lambda>"
            self.add(scope, node, "hook", name, receiver=_text_of(function.value), value=last, method=method)
        elif method.startswith("register") and arguments:
            receiver, name = split_receiver(function.value)
            if name:
                self.add(scope, node, "grow", name, receiver=receiver, value=arguments[-1], method=method)

    def other_method(self, node: ast.Call, function: ast.Attribute, scope: _Scope) -> None:
        name = function.attr
        if name == "save_for_backward":
            text = ", ".join(map(self.segment, node.args))
            receiver = _text_of(function.value)
            self.add(scope, node, "ctx", "saved_tensors", receiver=receiver, method=name, text=text)
        elif name == "__setattr__":
            shift = 0 if len(node.args) == 2 else 1
            obj = node.args[0] if shift and node.args else function.value
            self.set_attribute(node, obj, node.args[shift:], scope, name)
        elif name == "__setitem__" and len(node.args) == 2:
            receiver, container = split_receiver(function.value)
            self.add(scope, node, "item", container, receiver=receiver, value=node.args[1], method=name)
        else:
            self.other_function(node, name, scope)

    def other_function(self, node: ast.Call, name: str, scope: _Scope) -> None:
        arguments = node.args
        if name == "setattr" and len(arguments) == 3:
            self.set_attribute(node, arguments[0], arguments[1:], scope, name)
        elif name == "partial" and arguments:
            _, target = split_receiver(arguments[0])
            self.add(scope, node, "partial", target, value=node, method=name)
        elif name in GROWING_FUNCTIONS and len(arguments) >= 2:
            receiver, container = split_receiver(arguments[0])
            self.add(scope, node, "grow", container, receiver=receiver, value=arguments[1], method=name)
        elif name in ("lru_cache", "cache"):
            self._wrapped_cache(node, arguments, scope, name)

    def _wrapped_cache(self, node: ast.Call, arguments: list[ast.expr], scope: _Scope, name: str) -> None:
        """`f = cache(g)`; `lru_cache(None)(g)` is seen as a call without names and told by its value text."""
        if arguments and (target := split_receiver(arguments[0])[1]):
            self.add(scope, node, "cache", target, value=node, method=name)

    def set_attribute(
        self, node: ast.Call, obj: ast.expr, rest: Sequence[ast.expr], scope: _Scope, method: str
    ) -> None:
        if len(rest) != 2:
            return
        name = rest[0].value if isinstance(rest[0], ast.Constant) else ""
        if isinstance(name, str):
            receiver = _text_of(obj)
            self.add(scope, node, "attribute", name, receiver=receiver, value=rest[1], method=method)

    # results

    def segment(self, node: ast.AST | None) -> str:
        """Source text of an expression, one line, at most 200 characters."""
        line = getattr(node, "lineno", None)
        if node is None or line is None:
            return ""
        end_line, start, end = node.end_lineno, node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        first = self.lines[line - 1] if line <= len(self.lines) else ""
        if line == end_line:
            if not first.isascii():
                return first.encode()[start:end].decode(errors="replace")[:_TEXT_LIMIT]
            return first[start : min(end, start + _TEXT_LIMIT)]
        texts = [first.encode()[start:].decode(errors="replace").strip()]
        texts += [text.strip() for text in self.lines[line : min(end_line - 1, line + 6)]]
        last = self.lines[end_line - 1] if end_line <= len(self.lines) else ""
        texts.append(last.encode()[:end].decode(errors="replace").strip())
        return " ".join(texts)[:_TEXT_LIMIT]

    def finished(self) -> tuple[Binding, ...]:
        found = [self._binding(draft) for draft in self.drafts]
        found += self._closures()
        return tuple(sorted(found, key=lambda item: item.line))

    def _binding(self, draft: _Draft) -> Binding:
        scope, node = draft.scope, draft.node
        root, _, _rest = draft.receiver.partition(".")
        if root:
            # comprehension variables and the like do not matter here: only where the object's first name lives
            root = root.partition("[")[0]
        owner = scope.owner_of(root or draft.name) if draft.name or root else scope.qualname
        line = node.lineno  # type: ignore[attr-defined]
        in_function = draft.kind == "default"
        function = scope.parent.function if in_function and scope.parent else scope.function
        if draft.method == "globals":
            function = next(
                (s.function for s in reversed(self.scopes) if s.line <= line <= s.end_line), MODULE
            )
        return Binding(
            line=line,
            end_line=_head_end(node, line),
            function=function,
            kind=draft.kind,
            name=draft.name,
            receiver=draft.receiver,
            value_text=self.segment(draft.value) if draft.text is None else draft.text,
            in_loop=draft.in_loop,
            method=draft.method,
            value_kind=value_kind(draft.value),
            owner=owner,
            class_name=scope.class_name,
            on_self=_is_own(draft.receiver, scope),
            key=draft.key,
        )

    def _closures(self) -> Iterator[Binding]:
        for scope in self.scopes:
            if scope.kind != "function" or scope.parent is None or scope.parent.kind == "module":
                continue
            used = scope.loaded | scope.nonlocal_names
            for inner in self._comprehensions_in(scope):
                used = used | (inner.loaded - inner.bound)
            for name in sorted(used - (scope.bound - scope.nonlocal_names) - scope.global_names):
                owner = scope.parent.owner_of(name)
                if owner and owner != MODULE:
                    last = scope.qualname.rpartition(".")[2]
                    yield Binding(
                        line=scope.line,
                        end_line=scope.line,
                        function=scope.parent.function,
                        kind="closure",
                        name=name,
                        value_text=last,
                        owner=owner,
                        class_name=scope.class_name,
                    )

    def _comprehensions_in(self, scope: _Scope) -> Iterator[_Scope]:
        for inner in self.comprehension_scopes.get(id(scope), ()):
            yield inner
            yield from self._comprehensions_in(inner)

    @property
    def comprehension_scopes(self) -> dict[int, list[_Scope]]:
        known: dict[int, list[_Scope]] | None = self.__dict__.get("_by_parent")
        if known is None:
            known = self.__dict__["_by_parent"] = {}
            for scope in self.scopes:
                if scope.kind == "comprehension":
                    known.setdefault(id(scope.parent), []).append(scope)
        return known

    def calls(self) -> Iterator[Call]:
        for node, scope, in_loop in self.call_nodes:
            arguments: list[tuple[int | str, str]] = [(n, dotted(item)) for n, item in enumerate(node.args)]
            arguments += [(keyword.arg or "**", dotted(keyword.value)) for keyword in node.keywords]
            roots = [text.partition(".")[0].partition("[")[0] for _, text in arguments]
            callee = dotted(node.func)
            yield Call(
                line=node.lineno,
                end_line=node.end_lineno or node.lineno,
                function=scope.function,
                callee=callee,
                arguments=tuple(arguments),
                class_name=scope.class_name,
                owner=scope.owner_of(callee.partition(".")[0]) if callee else "",
                argument_owners=tuple(scope.owner_of(root) if root else "" for root in roots),
                in_loop=in_loop,
            )


def scope_bind(scope: _Scope, name: str) -> None:
    """Note that a scope binds a name, unless it declared the name global (then the module does)."""
    if name not in scope.global_names:
        scope.bound.add(name)
        return
    while scope.parent is not None:
        scope = scope.parent
    scope.bound.add(name)


def _is_own(receiver: str, scope: _Scope) -> bool:
    if not receiver or not scope.class_name:
        return False
    own = scope.self_name
    return receiver in (own, f"{own}.__class__", f"type({own})", scope.class_name, "cls")


def _head_end(node: ast.AST, line: int) -> int:
    """The last line of the statement itself: compound statements end where their body begins."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return node.iter.end_lineno or line
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
        return line
    return getattr(node, "end_lineno", None) or line


def _pairs(target: ast.Tuple | ast.List, value: ast.expr | None) -> list[tuple[ast.expr, ast.expr | None]]:
    """Each target with its own part of the value where both are displays of the same shape."""
    if (
        isinstance(value, (ast.Tuple, ast.List))
        and len(value.elts) == len(target.elts)
        and not any(isinstance(item, ast.Starred) for item in (*value.elts, *target.elts))
    ):
        return list(zip(target.elts, value.elts, strict=True))
    return [(item, value) for item in target.elts]


def _text_of(node: ast.expr) -> str:
    text = dotted(node)
    if text:
        return text
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        if name in ("type", "super", "vars") and node.args:
            return f"{name}({dotted(node.args[0])})"
        return f"{name or '...'}()"
    if isinstance(node, ast.Attribute):
        return f"{_text_of(node.value)}.{node.attr}"
    if isinstance(node, ast.Subscript):
        return f"{_text_of(node.value)}[]"
    return "..."


def _namespace_of(node: ast.expr) -> str | None:
    """`self` of `self.__dict__` and `vars(self)`, "" of `globals()`, None for other containers."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return _text_of(node.value)
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        if name == "vars" and node.args:
            return _text_of(node.args[0])
        if name == "globals":
            return ""
    return None


def split_receiver(node: ast.AST) -> tuple[str, str]:
    """(`self`, `history`) of `self.history[k]`, `self.history.setdefault(k, [])` and the like; ("", "") if none."""
    while True:
        if isinstance(node, (ast.Subscript, ast.Starred)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("setdefault", "get", "values", "items"):
                node = node.func.value
            else:
                return "", ""
        elif isinstance(node, ast.Call) and dotted(node.func) in ("getattr",) and len(node.args) >= 2:
            name = getattr(node.args[1], "value", "")
            return (_text_of(node.args[0]), name) if isinstance(name, str) else ("", "")
        elif isinstance(node, ast.Name):
            return "", node.id
        elif isinstance(node, ast.Attribute):
            return _text_of(node.value), node.attr
        else:
            return "", ""


_EMPTY_CALLS = frozenset({"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter", "tuple"})


def value_kind(node: ast.AST | None) -> str:
    """What a value is at sight: none, constant, empty, display, comprehension, call, other; "" without value."""
    if node is None:
        return ""
    if isinstance(node, ast.Constant):
        return "none" if node.value is None else "constant"
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return "constant"
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return "display" if node.elts else "empty"
    if isinstance(node, ast.Dict):
        return "display" if node.values else "empty"
    if type(node) in COMPREHENSION_NAMES:
        return "comprehension"
    if isinstance(node, ast.Call):
        return _call_kind(node)
    return "other"


def _call_kind(node: ast.Call) -> str:
    name = dotted(node.func).rpartition(".")[2]
    if name in _EMPTY_CALLS:
        # deque(maxlen=8) and defaultdict(list) hold nothing yet
        contents = [item for item in node.args if value_kind(item) not in ("none", "constant", "empty")]
        if not contents or name == "defaultdict":
            return "empty"
    if name == "field":
        return "empty"
    return "call"


_OTHER_METHODS = frozenset(
    {"save_for_backward", "__setattr__", "__setitem__", "partial", "lru_cache", "cache", *GROWING_FUNCTIONS}
)
_OTHER_FUNCTIONS = frozenset({"setattr", "partial", "lru_cache", "cache", *GROWING_FUNCTIONS})

_Handler = Callable[["_Collector", ast.AST, _Scope], None]
_STATEMENTS: dict[type, _Handler] = {
    ast.FunctionDef: _Collector.function,  # type: ignore[dict-item]
    ast.AsyncFunctionDef: _Collector.function,  # type: ignore[dict-item]
    ast.ClassDef: _Collector.class_,  # type: ignore[dict-item]
    ast.Assign: _Collector.assign,  # type: ignore[dict-item]
    ast.AnnAssign: _Collector.annotated,  # type: ignore[dict-item]
    ast.AugAssign: _Collector.augmented,  # type: ignore[dict-item]
    ast.For: _Collector.for_,  # type: ignore[dict-item]
    ast.AsyncFor: _Collector.for_,  # type: ignore[dict-item]
    ast.While: _Collector.while_,  # type: ignore[dict-item]
    ast.With: _Collector.with_,  # type: ignore[dict-item]
    ast.AsyncWith: _Collector.with_,  # type: ignore[dict-item]
    ast.ExceptHandler: _Collector.handler,  # type: ignore[dict-item]
    ast.MatchAs: _Collector.pattern,  # type: ignore[dict-item]
    ast.MatchStar: _Collector.pattern,  # type: ignore[dict-item]
    ast.MatchMapping: _Collector.pattern,  # type: ignore[dict-item]
    ast.Import: _Collector.import_,  # type: ignore[dict-item]
    ast.ImportFrom: _Collector.import_,  # type: ignore[dict-item]
    ast.Delete: _Collector.delete,  # type: ignore[dict-item]
    ast.Global: _Collector.declared,  # type: ignore[dict-item]
    ast.Nonlocal: _Collector.declared,  # type: ignore[dict-item]
}
_EXPRESSIONS: dict[type, _Handler] = {
    ast.Lambda: _Collector.lambda_,  # type: ignore[dict-item]
    ast.ListComp: _Collector.comprehension,  # type: ignore[dict-item]
    ast.SetComp: _Collector.comprehension,  # type: ignore[dict-item]
    ast.DictComp: _Collector.comprehension,  # type: ignore[dict-item]
    ast.GeneratorExp: _Collector.comprehension,  # type: ignore[dict-item]
    ast.NamedExpr: _Collector.walrus,  # type: ignore[dict-item]
    ast.Yield: _Collector.yield_,  # type: ignore[dict-item]
    ast.YieldFrom: _Collector.yield_,  # type: ignore[dict-item]
}
