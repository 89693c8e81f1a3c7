"""Objects that are made anew again and again and that nothing stores: what they collect goes with them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tenure.syntax.program.functions import Class, Function
from tenure.syntax.program.keeping import first_turns
from tenure.syntax.program.lifetimes import INITIALISERS
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import is_of_tests, runs_repeatedly
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import MODULE, dotted
from tenure.syntax.text.tree_walks import children

_MOST_STEPS = 3


def is_short_lived(program: Program, cls: Class, attribute: str = "") -> bool:
    """Whether all objects of a class are variables of functions that run again and again, and stored nowhere; nor is
    what they have in an attribute. Not where the class itself decides what its call gives: one object for all."""
    if program.method_of(cls, "__new__") is not None:
        return False
    first = program.method_of(cls, "__init__")
    made = [*program.constructions(cls), *(program.callers(first) if first is not None else ())]
    made = [(caller, call) for caller, call in made if called_name(call) not in ("__init__", "super")]
    return bool(made) and all(_is_variable_of_a_turn(program, caller, call, attribute) for caller, call in made)


def is_replaced(program: Program, cls: Class) -> bool:
    """Whether each place that keeps an object of a class is given a new one again and again: `self.state = State()` in
    what is called for each evaluation."""
    replacing: dict[str, bool] = {}
    for caller, call in program.constructions(cls):
        places = [name for name, values in caller.bound.items() if any(value is call for _, value in values)]
        if len(places) != 1 or "." not in places[0]:
            return False
        again = caller.name not in INITIALISERS and not _is_first(caller, call, places[0])
        again = again and runs_repeatedly(program, caller, call)
        replacing[places[0].rpartition(".")[2]] = replacing.get(places[0].rpartition(".")[2], False) or again
    return bool(replacing) and all(replacing.values())


def _is_first(function: Function, call: ast.Call, place: str) -> bool:
    return call.lineno in first_turns(function, place)


def is_long_lived(program: Program, cls: Class) -> bool:
    """Whether an object of a class, or of one below it, is made where nothing runs again: at the top of a file, or by a
    function outside of loops."""
    made = [each for one in program.relatives(cls) for each in program.constructions(one)]
    return any(
        not caller.loops_around(call.lineno) and not runs_repeatedly(program, caller)
        for caller, call in made
        if not is_of_tests(caller)
    )


def _is_variable_of_a_turn(
    program: Program, function: Function, call: ast.Call, attribute: str, depth: int = 0
) -> bool:
    if function.qualname == MODULE or not (function.loops_around(call.lineno) or runs_repeatedly(program, function)):
        return False
    names = {name for name, values in function.bound.items() if any(value is call for _, value in values)}
    given_back = [each.value for each in (*function.returns, *function.yields) if each.value is not None]
    name = names.pop() if len(names) == 1 else ""
    if "." in name or names:
        return False
    stored = [value for values in function.contents.values() for value in values]
    stored += [value for place, values in function.bound.items() if "." in place for _, value in values]
    if not name and call not in given_back:
        return call not in stored and not any(call in each.args for each in function.calls)
    if name and (
        _stands_in(name, stored)
        or any(isinstance(each, ast.Attribute) and dotted(each) == f"{name}.{attribute}" for each in stored)
        or any(_stores(program, function, each, name) for each in function.calls if each is not call)
    ):
        return False
    if call in given_back or _stands_in(name, given_back):
        callers = program.callers(function)
        return (
            bool(callers)
            and depth < _MOST_STEPS
            and all(_is_variable_of_a_turn(program, caller, each, attribute, depth + 1) for caller, each in callers)
        )
    return True


def _stands_in(name: str, values: Iterable[ast.expr]) -> bool:
    """Whether a value is a variable, or is made with it; not where only something of it is asked for."""
    waiting = list(values)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and node.id == name:
            return True
        if isinstance(node, ast.Call):
            waiting += [*node.args, *(each.value for each in node.keywords)]
        elif not isinstance(node, (ast.Attribute, ast.Subscript)):
            waiting += [each for each in children(node) if isinstance(each, ast.expr)]
    return False


def _stores(program: Program, function: Function, call: ast.Call, name: str) -> bool:
    """Whether a function of the program that is given the variable stores it, as far as its own text tells."""
    if not any(isinstance(each, ast.Name) and each.id == name for each in call.args):
        return False
    called = program.called_by(call, function)
    if called is None:
        return False
    stored = [value for values in called.contents.values() for value in values]
    stored += [value for place, values in called.bound.items() if "." in place for _, value in values]
    given = [each for each in called.parameters if _stands_in(each, stored)]
    places = [at for at, each in enumerate(call.args) if isinstance(each, ast.Name) and each.id == name]
    own = called.parameters[int(called.is_method) :]
    return any(at < len(own) and own[at] in given for at in places)
