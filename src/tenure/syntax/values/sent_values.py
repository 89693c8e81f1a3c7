"""What generators are sent: the value of `yield` where one is taken, `value = yield level`."""

from __future__ import annotations

import ast
from functools import lru_cache

from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program

_MOST_GENERATORS = 3
_MOST_CALLS = 12


def takes_values(function: Function) -> bool:
    """Whether a function binds what `yield` gives."""
    return bool(function.yields) and any(isinstance(each.value, ast.Yield) for each in function.bindings)


@lru_cache(maxsize=1)
def sent_values(program: Program) -> tuple[tuple[ast.expr, Function], ...]:
    """What `send` is called with where it is no function of the program, each with its function; nothing where several
    generators of the program might be meant."""
    callers = program.calling.get("send", ())
    if not callers or sum(map(takes_values, program.functions)) > _MOST_GENERATORS:
        return ()
    calls = [(call, caller) for caller in callers for call in caller.calls_of("send") if len(call.args) == 1]
    found = [(call.args[0], caller) for call, caller in calls if program.called_by(call, caller) is None]
    return tuple(found) if len(found) <= _MOST_CALLS else ()
