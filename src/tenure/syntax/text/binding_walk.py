"""One walk over a syntax tree that notes every binding with the scope it is in; `bindings` makes the list."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tenure.syntax.text.expressions import (
    all_arguments,
    makes_an_object,
    namespace_of,
    split_receiver,
    target_pairs,
    text_of,
)
from tenure.syntax.text.scopes import COMPREHENSION_NAMES, MODULE, FunctionNode, decorator_name, dotted
from tenure.syntax.text.store_calls import stores_of_call
from tenure.syntax.text.walked_scopes import WalkedScope

CACHE_NAMES = frozenset({"lru_cache", "cache", "cached_property", "cachedmethod", "cached", "memoize"})


@dataclass(slots=True)
class Draft:
    """A binding as met on the way, before it is known where its names live."""

    scope: WalkedScope
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
    {"ctx", "op", "ops", "kind", "type_comment", "lineno", "conversion", "attr", "id", "arg", "value_text"}
)
_children: dict[type, tuple[str, ...]] = {}


def _child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    fields = _children.get(kind)
    if fields is None:
        fields = _children[kind] = tuple(name for name in kind._fields if name not in _SKIPPED)
    return fields


class BindingWalk:
    """One walk over a tree; `depth` counts the loops of the current function around the current statement."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.call_nodes: list[tuple[ast.Call, WalkedScope, bool]] = []
        self.scopes: list[WalkedScope] = []
        self.depth = 0

    # scopes

    def module(self, tree: ast.Module) -> None:
        """Walk a whole file; call once."""
        scope = WalkedScope("module", MODULE, MODULE)
        self.scopes.append(scope)
        self._body(tree.body, scope)

    def _enter(self, kind: str, name: str, parent: WalkedScope, node: ast.AST) -> WalkedScope:
        qualname = parent.inner_name(name)
        scope = WalkedScope(kind, qualname, parent.function if kind == "comprehension" else qualname, parent)
        scope.class_name = qualname if kind == "class" else parent.class_name
        scope.self_name = parent.self_name if kind != "class" else ""
        scope.line = getattr(node, "lineno", 0)
        scope.end_line = getattr(node, "end_lineno", None) or scope.line
        self.scopes.append(scope)
        return scope

    def _add(
        self,
        scope: WalkedScope,
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
        self.drafts.append(Draft(scope, node, kind, name, receiver, value, in_loop, method, text, key))

    # statements

    def _body(self, body: Sequence[ast.stmt], scope: WalkedScope) -> None:
        for node in body:
            self._statement(node, scope)

    def _statement(self, node: ast.AST, scope: WalkedScope) -> None:
        while isinstance(node, ast.If) and len(node.orelse) == 1:  # a long `elif` chain is deep, but is no recursion
            self._expression(node.test, scope)
            self._body(node.body, scope)
            node = node.orelse[0]
        handler = _STATEMENTS.get(type(node))
        if handler is not None:
            handler(self, node, scope)
        elif isinstance(node, ast.expr):
            self._expression(node, scope)
        else:
            self._children(node, scope)

    def _children(self, node: ast.AST, scope: WalkedScope) -> None:
        for name in _child_fields(type(node)):
            value = getattr(node, name, None)
            if isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        self._statement(item, scope)
            elif isinstance(value, ast.AST):
                self._statement(value, scope)

    def _function(self, node: FunctionNode, scope: WalkedScope) -> None:
        for decorator in node.decorator_list:
            self._expression(decorator, scope)
        scope.bind(node.name)
        inner = self._enter("function", node.name, scope, node)
        names = [decorator_name(item).rpartition(".")[2] for item in node.decorator_list]
        self._add(scope, node, "definition", node.name)
        if CACHE_NAMES.intersection(names):
            self._add(scope, node, "cache", node.name, method=next(n for n in names if n in CACHE_NAMES))
        if "property" in names or "cached_property" in names:
            last = node.body[-1]
            if isinstance(last, ast.Return) and (text := dotted(last.value)):
                self._add(scope, node, "property", node.name, text=text)
        self._arguments(node.args, inner, scope, is_method=scope.kind == "class" and "staticmethod" not in names)
        if node.returns is not None:
            self._expression(node.returns, scope)
        self._inside(lambda: self._body(node.body, inner))

    def _inside(self, walk: Callable[[], None]) -> None:
        depth, self.depth = self.depth, 0
        walk()
        self.depth = depth

    def _arguments(self, arguments: ast.arguments, inner: WalkedScope, outer: WalkedScope, *, is_method: bool) -> None:
        plain = [*arguments.posonlyargs, *arguments.args]
        inner.first_parameter = plain[0].arg if plain else ""
        if is_method and plain:
            inner.self_name = plain[0].arg
        every = all_arguments(arguments)
        depth, self.depth = self.depth, 0
        for argument in every:
            inner.bound.add(argument.arg)
            self._add(inner, argument, "parameter", argument.arg)
        self.depth = depth
        defaults: list[tuple[ast.arg, ast.expr]] = []
        if arguments.defaults:
            defaults += zip(plain[-len(arguments.defaults) :], arguments.defaults, strict=True)
        defaults += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
        for argument, default in defaults:
            self._expression(default, outer)
            self._add(inner, argument, "default", argument.arg, value=default)

    def _class_(self, node: ast.ClassDef, scope: WalkedScope) -> None:
        for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self._expression(part, scope)
        scope.bind(node.name)
        self._add(scope, node, "definition", node.name)
        inner = self._enter("class", node.name, scope, node)
        names = {decorator_name(item).rpartition(".")[2] for item in node.decorator_list}
        bases = {dotted(base).rpartition(".")[2] for base in node.bases}
        if names & {"dataclass", "define", "frozen", "mutable", "attrs"} or "NamedTuple" in bases:
            inner.has_fields = True
        if any(base.endswith("Function") for base in bases):
            inner.is_autograd = True
        self._inside(lambda: self._body(node.body, inner))

    def _assign(self, node: ast.Assign, scope: WalkedScope) -> None:
        self._expression(node.value, scope)
        for target in node.targets:
            self._target(target, scope, node, "assign", node.value)

    def _annotated(self, node: ast.AnnAssign, scope: WalkedScope) -> None:
        if node.value is not None:
            self._expression(node.value, scope)
        in_fields = scope.kind == "class" and scope.has_fields
        if node.value is None and not in_fields:
            return
        self._target(node.target, scope, node, "field" if in_fields else "annotated", node.value)

    def _augmented(self, node: ast.AugAssign, scope: WalkedScope) -> None:
        self._expression(node.value, scope)
        self._target(node.target, scope, node, "augmented", node.value)

    def _for_(self, node: ast.For | ast.AsyncFor, scope: WalkedScope) -> None:
        self._expression(node.iter, scope)
        self.depth += 1
        self._target(node.target, scope, node, "for", node.iter)
        self._body(node.body, scope)
        self.depth -= 1
        self._body(node.orelse, scope)

    def _while_(self, node: ast.While, scope: WalkedScope) -> None:
        self.depth += 1
        self._expression(node.test, scope)
        self._body(node.body, scope)
        self.depth -= 1
        self._body(node.orelse, scope)

    def _with_(self, node: ast.With | ast.AsyncWith, scope: WalkedScope) -> None:
        for item in node.items:
            self._expression(item.context_expr, scope)
            if item.optional_vars is not None:
                self._target(item.optional_vars, scope, item.context_expr, "with", item.context_expr)
        self._body(node.body, scope)

    def _handler(self, node: ast.ExceptHandler, scope: WalkedScope) -> None:
        if node.type is not None:
            self._expression(node.type, scope)
        if node.name:
            scope.bind(node.name)
            self._add(scope, node, "except", node.name, value=node.type)
        self._body(node.body, scope)

    def _pattern(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping, scope: WalkedScope) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            scope.bind(name)
            self._add(scope, node, "match", name)
        self._children(node, scope)

    def _import_(self, node: ast.Import | ast.ImportFrom, scope: WalkedScope) -> None:
        module = ""
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            module += "." if node.module else ""
        for item in node.names:
            name = item.asname or (item.name if module else item.name.partition(".")[0])
            scope.bind(name)
            self._add(scope, node, "import", name, text=module + item.name)

    def _delete(self, node: ast.Delete, scope: WalkedScope) -> None:
        for target in node.targets:
            for item in target.elts if isinstance(target, (ast.Tuple, ast.List)) else (target,):
                what = (
                    "name" if isinstance(item, ast.Name) else "attribute" if isinstance(item, ast.Attribute) else "item"
                )
                receiver, name = split_receiver(item)
                if what == "name":
                    scope.bind(name)
                self._add(scope, node, "del", name, receiver=receiver, method=what)

    def _declared(self, node: ast.Global | ast.Nonlocal, scope: WalkedScope) -> None:
        names = scope.global_names if isinstance(node, ast.Global) else scope.nonlocal_names
        names.update(node.names)

    # targets

    def _target(self, target: ast.expr, scope: WalkedScope, node: ast.AST, kind: str, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            while scope.kind == "comprehension" and kind == "walrus" and scope.parent is not None:
                scope = scope.parent
            scope.bind(target.id)
            if scope.kind == "class" and kind in ("assign", "annotated", "unpack"):
                kind = "class"
            self._add(scope, node, kind, target.id, value=value)
        elif isinstance(target, ast.Attribute):
            self._expression(target.value, scope)
            self._attribute(target, scope, node, kind, value)
        elif isinstance(target, ast.Subscript):
            self._expression(target.value, scope)
            self._expression(target.slice, scope)
            self._item(target, scope, node, kind, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            pairs = target_pairs(target, value)
            for item, part in pairs:
                self._target(item, scope, node, "unpack" if kind == "assign" else kind, part)
        elif isinstance(target, ast.Starred):
            self._target(target.value, scope, node, kind, value)

    def _attribute(
        self, target: ast.Attribute, scope: WalkedScope, node: ast.AST, kind: str, value: ast.expr | None
    ) -> None:
        receiver = text_of(target.value)
        if kind in ("assign", "unpack", "annotated", "walrus"):
            kind = "attribute"
        if kind == "attribute" and self._is_ctx(receiver, scope):
            kind = "ctx"
        self._add(scope, node, kind, target.attr, receiver=receiver, value=value, method="attribute")

    def _is_ctx(self, receiver: str, scope: WalkedScope) -> bool:
        if receiver == "ctx":
            return True
        outer = scope.parent
        return outer is not None and outer.is_autograd and receiver == scope.first_parameter

    def _item(
        self, target: ast.Subscript, scope: WalkedScope, node: ast.AST, kind: str, value: ast.expr | None
    ) -> None:
        key = target.slice.value if isinstance(target.slice, ast.Constant) else None
        namespace = namespace_of(target.value)
        if namespace is not None and isinstance(key, str):
            if namespace:
                self._add(scope, node, "attribute", key, receiver=namespace, value=value, method="__dict__")
            else:
                module = self.scopes[0]
                module.bound.add(key)
                self._add(module, node, "assign", key, value=value, method="globals")
            return
        receiver, name = split_receiver(target)
        kind = "augmented" if kind == "augmented" else "item"
        key_text = "" if key is None else repr(key)
        self._add(scope, node, kind, name, receiver=receiver, value=value, method="item", key=key_text)

    # expressions

    def _expression(self, node: ast.AST, scope: WalkedScope) -> None:
        stack = [node]
        pop, extend = stack.pop, stack.extend
        while stack:
            node = pop()
            if isinstance(node, ast.Name):
                scope.loaded.add(node.id)
            elif isinstance(node, ast.Attribute):
                stack.append(node.value)
            elif isinstance(node, ast.Constant):
                continue
            elif isinstance(node, ast.Call):
                self._call(node, scope)
                stack.append(node.func)
                extend(node.args)
                extend([keyword.value for keyword in node.keywords])
            elif (special := _EXPRESSIONS.get(type(node))) is not None:
                special(self, node, scope)
            else:
                for name in _child_fields(type(node)):
                    value = getattr(node, name, None)
                    if isinstance(value, list):
                        extend([item for item in value if isinstance(item, ast.AST)])
                    elif isinstance(value, ast.AST):
                        stack.append(value)

    def _lambda_(self, node: ast.Lambda, scope: WalkedScope) -> None:
        inner = self._enter("function", "<lambda>", scope, node)
        self._arguments(node.args, inner, scope, is_method=False)
        self._inside(lambda: self._expression(node.body, inner))

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: WalkedScope
    ) -> None:
        self._expression(node.generators[0].iter, scope)
        inner = self._enter("comprehension", COMPREHENSION_NAMES[type(node)], scope, node)
        for number, generator in enumerate(node.generators):
            if number:
                self._expression(generator.iter, inner)
            self._target(generator.target, inner, generator.target, "comprehension", generator.iter)
            for condition in generator.ifs:
                self._expression(condition, inner)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            if part is not None:  # 3.15 allows `**` in dict comprehensions
                self._expression(part, inner)

    def _walrus(self, node: ast.NamedExpr, scope: WalkedScope) -> None:
        self._expression(node.value, scope)
        self._target(node.target, scope, node, "walrus", node.value)

    def _yield_(self, node: ast.Yield | ast.YieldFrom, scope: WalkedScope) -> None:
        if self.depth:
            self._add(scope, node, "yield", "", value=node.value)
        if node.value is not None:
            self._expression(node.value, scope)

    def _call(self, node: ast.Call, scope: WalkedScope) -> None:
        in_loop = self.depth > 0 or scope.kind == "comprehension"
        for item in node.args:
            if isinstance(item, (ast.Name, ast.Attribute)):
                self.call_nodes.append((node, scope, in_loop))
                break
        else:
            named = any(isinstance(keyword.value, (ast.Name, ast.Attribute)) for keyword in node.keywords)
            if named or (makes_an_object(node) and (node.args or node.keywords)):
                self.call_nodes.append((node, scope, in_loop))
        for store in stores_of_call(node):
            self._add(
                scope,
                node,
                store.kind,
                store.name,
                receiver=store.receiver,
                value=store.value,
                method=store.method,
                key=store.key,
            )


_Handler = Callable[["BindingWalk", ast.AST, WalkedScope], None]
_STATEMENTS: dict[type, _Handler] = {
    ast.FunctionDef: BindingWalk._function,  # type: ignore[dict-item]
    ast.AsyncFunctionDef: BindingWalk._function,  # type: ignore[dict-item]
    ast.ClassDef: BindingWalk._class_,  # type: ignore[dict-item]
    ast.Assign: BindingWalk._assign,  # type: ignore[dict-item]
    ast.AnnAssign: BindingWalk._annotated,  # type: ignore[dict-item]
    ast.AugAssign: BindingWalk._augmented,  # type: ignore[dict-item]
    ast.For: BindingWalk._for_,  # type: ignore[dict-item]
    ast.AsyncFor: BindingWalk._for_,  # type: ignore[dict-item]
    ast.While: BindingWalk._while_,  # type: ignore[dict-item]
    ast.With: BindingWalk._with_,  # type: ignore[dict-item]
    ast.AsyncWith: BindingWalk._with_,  # type: ignore[dict-item]
    ast.ExceptHandler: BindingWalk._handler,  # type: ignore[dict-item]
    ast.MatchAs: BindingWalk._pattern,  # type: ignore[dict-item]
    ast.MatchStar: BindingWalk._pattern,  # type: ignore[dict-item]
    ast.MatchMapping: BindingWalk._pattern,  # type: ignore[dict-item]
    ast.Import: BindingWalk._import_,  # type: ignore[dict-item]
    ast.ImportFrom: BindingWalk._import_,  # type: ignore[dict-item]
    ast.Delete: BindingWalk._delete,  # type: ignore[dict-item]
    ast.Global: BindingWalk._declared,  # type: ignore[dict-item]
    ast.Nonlocal: BindingWalk._declared,  # type: ignore[dict-item]
}
_EXPRESSIONS: dict[type, _Handler] = {
    ast.Lambda: BindingWalk._lambda_,  # type: ignore[dict-item]
    ast.ListComp: BindingWalk._comprehension,  # type: ignore[dict-item]
    ast.SetComp: BindingWalk._comprehension,  # type: ignore[dict-item]
    ast.DictComp: BindingWalk._comprehension,  # type: ignore[dict-item]
    ast.GeneratorExp: BindingWalk._comprehension,  # type: ignore[dict-item]
    ast.NamedExpr: BindingWalk._walrus,  # type: ignore[dict-item]
    ast.Yield: BindingWalk._yield_,  # type: ignore[dict-item]
    ast.YieldFrom: BindingWalk._yield_,  # type: ignore[dict-item]
}
