"""Calls that are given a function together with its arguments, and the call that this comes to."""

from __future__ import annotations

import ast

from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.value_parts import element_of

APPLYING = frozenset(
    {"partial", "submit", "apply_async", "map", "starmap", "imap", "call_soon", "to_thread", "run_in_executor", "spawn"}
    | {"checkpoint", "Thread", "Timer", "Process", "run_sync", "filter", "create_thread", "imap_unordered"}
    | {"reduce", "call_later", "apply"}
)
"""Calls that are given a function, most of them with its arguments."""
FOR_EACH = frozenset({"map", "starmap", "imap", "imap_unordered", "filter", "reduce"})
"""Those that run it for each of what they are given."""


_LATER = frozenset({"run_in_executor", "call_later", "Timer"})
"""Those that are given something else first: a pool, or a time."""


def application(call: ast.Call) -> ast.Call | None:
    """The call `f(x)` that `submit(f, x)` or `Thread(target=f, args=(x,))` comes to."""
    by_name = {each.arg: each.value for each in call.keywords}
    if "target" in by_name:
        return _made(call, by_name["target"], getattr(by_name.get("args"), "elts", []))
    name = called_name(call)
    args = call.args[1:] if name in _LATER else call.args
    if not args or isinstance(args[0], ast.Starred):
        return None
    if name == "apply":
        is_of_module = isinstance(call.func, ast.Attribute) and len(args) == 1 and not call.keywords
        return _made(call, args[0], [call.func.value]) if is_of_module else None  # type: ignore[attr-defined]
    if name == "Timer":
        given = args[1] if len(args) > 1 else by_name.get("args")
        return _made(call, args[0], getattr(given, "elts", []))
    keywords = [each for each in call.keywords if each.arg not in ("timeout", "chunksize", "use_reentrant")]
    return _made(call, args[0], _elements(name, args[1:]), keywords)


def _elements(name: str, args: list[ast.expr]) -> list[ast.expr]:
    """What the function is given of the rest: elements, where it is called for each of them."""
    if name == "reduce":
        return [ast.Constant(None), *(element_of(each, 0) for each in args[:1])]
    if name in FOR_EACH and name != "starmap":
        return [each if isinstance(each, ast.Starred) else element_of(each, 0) for each in args]
    return args


def _made(
    call: ast.Call, function: ast.expr, args: list[ast.expr], keywords: list[ast.keyword] | None = None
) -> ast.Call:
    return ast.copy_location(ast.Call(func=function, args=args, keywords=keywords or []), call)
