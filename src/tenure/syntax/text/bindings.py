"""Every statement of a file that binds a name or stores something in an object, as one flat list.

Read from the syntax tree alone: what a statement may do, not what it did. Costs about as much as parsing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.binding_walk import BindingWalk, Draft
from tenure.syntax.text.expressions import value_kind
from tenure.syntax.text.scopes import MODULE, dotted, parse
from tenure.syntax.text.walked_scopes import WalkedScope

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
    field, ctx, property, partial, inplace (a tensor is changed by `add_` and the like) or yield."""
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
    """The constant key of an item assignment, or of what a call adds to: `'loss'` of `stats["loss"].append(x)`."""

    @property
    def sets_computed_name(self) -> bool:
        """Whether an attribute is set whose name is computed: `setattr(self, name, x)`, `register_buffer(key, x)`."""
        return self.kind == "attribute" and not self.name


@dataclass(frozen=True, slots=True)
class Call:
    """A call with at least one plain name or attribute among its arguments, to follow containers into helpers; or one
    of a class, with any argument, that may fill the object's fields."""

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
    """All calls of a file that pass a name or attribute on, or that make an object of something."""
    return tuple(_collected(source)[1]())


@lru_cache(maxsize=64)
def _collected(source: SourceFile) -> tuple[tuple[Binding, ...], Callable[[], Iterator[Call]]]:
    walk = BindingWalk()
    try:
        walk.module(parse(source))
    except RecursionError:
        raise SourceError(f"{source.path}: nested too deeply to be read") from None
    lines = _Lines(source.text)
    found = [_binding(draft, walk, lines) for draft in walk.drafts]
    found.extend(_closures(walk))
    return tuple(sorted(found, key=lambda item: item.line)), lambda: map(_call, walk.call_nodes)


def _binding(draft: Draft, walk: BindingWalk, lines: _Lines) -> Binding:
    scope, node = draft.scope, draft.node
    root = draft.receiver.partition(".")[0].partition("[")[0] or draft.name
    line: int = node.lineno  # type: ignore[attr-defined]
    # A default is evaluated outside the function to which its parameter belongs.
    outside = draft.kind == "default" and scope.parent is not None
    function = scope.parent.function if outside and scope.parent else scope.function
    if draft.method == "globals":
        around = (item.function for item in reversed(walk.scopes) if item.line <= line <= item.end_line)
        function = next(around, MODULE)
    return Binding(
        line=line,
        end_line=_head_end(node, line),
        function=function,
        kind=draft.kind,
        name=draft.name,
        receiver=draft.receiver,
        value_text=lines.segment(draft.value) if draft.text is None else draft.text,
        in_loop=draft.in_loop,
        method=draft.method,
        value_kind=value_kind(draft.value),
        owner=scope.owner_of(root) if root else scope.qualname,
        class_name=scope.class_name,
        on_self=_is_own(draft.receiver, scope),
        key=draft.key,
    )


def _is_own(receiver: str, scope: WalkedScope) -> bool:
    if not receiver or not scope.class_name:
        return False
    own = scope.self_name
    return receiver in (own, f"{own}.__class__", f"type({own})", scope.class_name.rpartition(".")[2], "cls")


def _head_end(node: ast.AST, line: int) -> int:
    """The last line of the statement itself: compound statements end where their body begins."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return node.iter.end_lineno or line
    if isinstance(node, ast.ExceptHandler):
        return (node.type.end_lineno if node.type is not None else None) or line
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return line
    return getattr(node, "end_lineno", None) or line


def _closures(walk: BindingWalk) -> Iterator[Binding]:
    """The `def` or `lambda` line of each inner function, once for each variable of an outer function it keeps."""
    used = _names_used(walk.scopes)
    for scope in walk.scopes:
        if scope.kind != "function" or scope.parent is None or scope.parent.kind == "module":
            continue
        own = scope.bound - scope.nonlocal_names
        for name in sorted(used[id(scope)] - own - scope.global_names):
            owner = scope.parent.owner_of(name)
            if owner and owner != MODULE:
                yield Binding(
                    line=scope.line,
                    end_line=scope.line,
                    function=scope.parent.function,
                    kind="closure",
                    name=name,
                    value_text=scope.qualname.rpartition(".")[2],
                    owner=owner,
                    class_name=scope.class_name,
                )


def _names_used(scopes: list[WalkedScope]) -> dict[int, set[str]]:
    """For each scope the names it reads, those of its comprehensions included."""
    used = {id(scope): scope.loaded | scope.nonlocal_names for scope in scopes}
    for scope in reversed(scopes):
        if scope.kind == "comprehension" and scope.parent is not None:
            used[id(scope.parent)] |= used[id(scope)] - scope.bound
    return used


def _call(noted: tuple[ast.Call, WalkedScope, bool]) -> Call:
    node, scope, in_loop = noted
    arguments: list[tuple[int | str, str]] = [(n, dotted(item)) for n, item in enumerate(node.args)]
    arguments += [(keyword.arg or "**", dotted(keyword.value)) for keyword in node.keywords]
    roots = [text.partition(".")[0].partition("[")[0] for _, text in arguments]
    callee = dotted(node.func)
    return Call(
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


class _Lines:
    """The text of expressions by their place; positions in syntax trees count UTF-8 bytes."""

    def __init__(self, text: str) -> None:
        self.lines = re.split(r"\r\n|\r|\n", text) if "\r" in text else text.split("\n")

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
