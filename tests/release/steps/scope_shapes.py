"""A program that puts `step_scope` into every shape of code, with a torch of its own: a tensor, a graph, no more.

    PYTHONPATH=src python tests/release/steps/scope_shapes.py

What a scope does to variables depends on the interpreter, and torch is not there for each. Prints one line per shape
that is not as it should be, and a last line with their number.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import sys
import threading
import types
import weakref
from unittest.mock import MagicMock


class Graph:
    """What hangs on a tensor that was computed."""


class Storage:
    def nbytes(self):
        return 4


class Tensor:
    nbytes = 4

    def __init__(self, value, graph=None):
        self.value, self.graph = value, graph
        self.requires_grad, self.is_leaf = graph is not None, graph is None

    def detach(self):
        return Tensor(self.value)

    def detach_(self):
        self.graph, self.requires_grad, self.is_leaf = None, False, True
        return self

    def _use_count(self):
        return 1

    def _is_view(self):
        return False

    def untyped_storage(self):
        return Storage()


class Guard:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def install():
    """Put the two packages that the room imports, as far as it needs them, in their places."""
    torch = types.ModuleType("torch")
    torch.Tensor = Tensor
    torch.nn = types.SimpleNamespace(Module=type("Module", (), {}))
    torch.optim = types.SimpleNamespace(Optimizer=type("Optimizer", (), {}))
    torch._C = types.SimpleNamespace(DisableTorchFunctionSubclass=Guard)
    sys.modules.update({"torch": torch, "numpy": MagicMock(), "numpy.typing": MagicMock()})


install()

from tenure.capture.heap.heapwalk import NATIVE as HAS_WALKER  # noqa: E402
from tenure.errors import UsageError  # noqa: E402
from tenure.release.steps.scopes import step_scope  # noqa: E402

READS_OWN_LOCALS_ARE_LEFT = sys.version_info < (3, 13)
SHAPES = []


def shape(function):
    SHAPES.append(function)
    return function


def made(value=1):
    return Tensor(value, Graph())


def is_cut(*tensors):
    return all(each.graph is None for each in tensors)


@shape
def names_of_a_function():
    with step_scope() as scope:
        out = made(3)
        loss = made(4)
    assert is_cut(out, loss)
    assert (out.value, loss.value) == (3, 4)
    assert [each.name for each in scope.outcome.carried] == ["out", "loss"]


@shape
def graphs_go_at_the_end_of_the_block_and_nothing_is_left_behind():
    with step_scope():
        loss = made()
        graph = weakref.ref(loss.graph)
        other = Tensor(1)
    assert graph() is None
    seen = weakref.ref(other)
    del other
    assert seen() is None
    assert is_cut(loss)


@shape
def containers_that_a_name_alone_holds():
    with step_scope():
        flat = {"loss": made(), "stats": {"count": 8}}
        deep = [{"parts": (made(), [made()])}]
    assert is_cut(flat["loss"], deep[0]["parts"][0], deep[0]["parts"][1][0])


@shape
def containers_that_others_hold():
    kept = []
    with step_scope() as scope:
        flat = {"loss": made()}
        deep = [[made()]]
        kept.extend([flat, deep])
    assert not is_cut(flat["loss"])
    assert not is_cut(deep[0][0])
    assert scope.outcome.survived == ("flat", "deep")


@shape
def one_container_under_two_names():
    with step_scope():
        flat = {"loss": made()}
        same = flat
        deep = [[made()]]
        also = deep
    assert same is flat
    assert also is deep
    assert is_cut(flat["loss"], deep[0][0])


@shape
def a_loop_that_is_left_in_every_way():
    def run(leave):
        for _ in range(3):
            with step_scope():
                loss = made()
                if leave == "continue":
                    continue
                if leave == "break":
                    break
        assert is_cut(loss)

    for leave in ("", "continue", "break"):
        run(leave)


@shape
def a_return_from_the_block():
    held = []

    def run():
        with step_scope() as scope:
            held.append(scope)
            loss = made()
            return loss.value

    assert run() == 1
    assert [each.name for each in held[0].outcome.carried] == ["loss"]


@shape
def an_exception():
    scope = step_scope()
    with contextlib.suppress(ZeroDivisionError), scope:
        loss = made()
        _ = 1 / 0
    assert is_cut(loss)
    try:
        with step_scope():
            second = made()
            raise KeyError
    except KeyError:
        assert is_cut(second)


@shape
def an_exception_in_a_later_turn():
    with contextlib.suppress(ZeroDivisionError), step_scope():
        for turn in (2, 1, 0):
            _ = 1 / turn
            late = made()
    assert is_cut(late)


@shape
def every_statement_that_binds():
    part = (made(), [made(), made()])
    holder = types.SimpleNamespace(kept=made())
    with step_scope() as scope:
        first, (second, *rest) = made(), (made(), made(), made())
        for third in [made()]:
            pass
        if (fourth := made()) is not None:
            fifth = sixth = made()
        try:
            _ = {}["missing"]
        except KeyError:
            seventh = made()
        finally:
            eighth = made()
        with contextlib.nullcontext(made()) as ninth:
            tenth: Tensor = made()
        while True:
            eleventh = made()
            break
        listed = [made(each) for each in (1, 2)]
        named = {each: made(each) for each in (1, 2)}
        twelfth = made() if listed else None
        _ = [thirteenth := made() for _ in range(2)]
        unbound = None
        del unbound
    cut = [first, second, *rest, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh]
    assert is_cut(*cut, *listed, *named.values(), twelfth, thirteenth)
    assert not is_cut(part[0], *part[1], holder.kept)
    names = {each.name for each in scope.outcome.carried}
    assert names >= {"first", "rest", "listed", "named", "thirteenth"}
    assert "part" not in names


@shape
def names_before_the_block_and_names_to_keep():
    before = made()
    with step_scope(keep=("hidden",)):
        hidden = made()
        loss = made()
    assert is_cut(loss)
    assert not is_cut(before)
    assert not is_cut(hidden)


@shape
def a_branch_that_was_not_taken_stays_unbound():
    def run(take):
        with step_scope():
            loss = made()
            if take:
                extra = made()
        assert is_cut(loss)
        return extra

    assert is_cut(run(True))
    try:
        run(False)
    except UnboundLocalError:
        return
    raise AssertionError("a name was bound that the program had not bound")


@shape
def arguments_and_variables_of_other_values_stay():
    def run(batch, *args, number=3, **kwargs):
        text, nothing, flag = "x", None, True
        with step_scope():
            loss = made()
            number += 1
            batch = [batch]
        return batch, args, number, kwargs, text, nothing, flag, is_cut(loss)

    assert run(1, 2, a=5) == ([1], (2,), 4, {"a": 5}, "x", None, True, True)


@shape
def variables_of_closures():
    with step_scope():
        loss = made()

    def inner():
        nonlocal loss
        with step_scope():
            loss = made(7)
        return loss

    assert is_cut(inner())
    assert is_cut(loss)
    assert loss.value == 7


@shape
def a_module_and_a_class_body_and_exec():
    program = (
        "with step_scope() as scope:\n"
        "    loss = made()\n"
        "    parts = [each for each in (made(), made())]\n"
        "    flat = {'loss': made()}\n"
        "def step():\n"
        "    global kept\n"
        "    with step_scope():\n"
        "        kept = made()\n"
        "        own = made()\n"
        "    return own\n"
        "own = step()\n"
        "class Body:\n"
        "    with step_scope():\n"
        "        inside = made()\n"
    )
    space = {"step_scope": step_scope, "made": made, "__name__": "__main__"}
    exec(program, space)
    assert is_cut(space["loss"], *space["parts"], space["flat"]["loss"], space["kept"], space["own"])
    assert is_cut(space["Body"].inside)
    assert "each" not in space
    own = {}
    exec(program, space, own)
    assert is_cut(own["loss"], *own["parts"])


@shape
def generators_and_coroutines():
    def steps():
        for number in range(3):
            with step_scope():
                loss = made(number)
                yield number
                late = made(number)
            yield loss, late

    results = list(steps())
    assert [each for each in results if isinstance(each, int)] == [0, 1, 2]
    assert all(is_cut(*each) for each in results if isinstance(each, tuple))

    async def step(number):
        with step_scope():
            loss = made(number)
            await asyncio.sleep(0)
            late = made(number)
        return loss, late

    async def main():
        return await asyncio.gather(*(step(number) for number in range(3)))

    found = asyncio.run(main())
    assert all(is_cut(*pair) for pair in found)
    assert [pair[0].value for pair in found] == [0, 1, 2]


@shape
def a_generator_that_is_thrown_away_inside_the_block():
    held = []

    def steps():
        with step_scope() as scope:
            held.append(scope)
            loss = made()
            yield loss.value

    started = steps()
    next(started)
    started.close()
    assert [each.name for each in held[0].outcome.carried] == ["loss"]


@shape
def a_recursion_and_threads_in_one_code_object():
    def down(depth):
        with step_scope():
            loss = made(depth)
            below = down(depth - 1) if depth else []
        assert is_cut(loss)
        assert loss.value == depth
        return [loss, *below]

    assert [each.value for each in down(5)] == [5, 4, 3, 2, 1, 0]
    wrong = []

    def work(number):
        for _ in range(200):
            with step_scope():
                loss = made(number)
                flat = {"loss": made(number)}
            if not is_cut(loss, flat["loss"]) or loss.value != number:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@shape
def several_managers_in_one_statement_and_one_in_another():
    with contextlib.nullcontext() as nothing, step_scope(), contextlib.nullcontext(made()) as given:
        loss = made()
        with step_scope():
            inner = made()
        assert is_cut(inner)
        assert not is_cut(loss)
    assert is_cut(loss, given)
    assert nothing is None


@shape
def a_function_too_long_for_one_byte_of_argument():
    lines = [f"    name_{number} = made({number})" for number in range(600)]
    body = "\n".join(["def long():", "  with step_scope():", *lines, "  return name_0, name_599"])
    space = {"step_scope": step_scope, "made": made}
    exec(body, space)
    assert is_cut(*space["long"]())


@shape
def under_a_trace_function():
    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: sys.gettrace())
    try:
        for number in range(2):
            with step_scope():
                loss = made(number)
                count = number
    finally:
        sys.settrace(before)
    assert is_cut(loss)
    assert (loss.value, count) == (1, 1)


@shape
def a_function_that_reads_its_own_locals():
    with step_scope() as scope:
        loss = made()
        own = locals()
    assert own["loss"].value == 1
    if READS_OWN_LOCALS_ARE_LEFT:
        assert not is_cut(loss)
        assert own["loss"] is loss
        told = {each.name: each.left for each in scope.outcome.carried}
        if HAS_WALKER:
            assert told["loss"] == "the function reads its own locals(), which would be overwritten"
    else:
        assert is_cut(loss)


@shape
def somebody_else_holds_the_dict_of_locals():
    held = []

    def peek():
        held.append(inspect.currentframe().f_back.f_locals)

    def run():
        with step_scope():
            loss = made()
            peek()
        return loss

    loss = run()
    assert loss.value == 1
    assert held[0]["loss"].value == 1
    assert is_cut(loss) or READS_OWN_LOCALS_ARE_LEFT


@shape
def a_decorated_function_and_coroutine():
    @step_scope()
    def train():
        return {"loss": made(), "parts": (made(), 1)}

    @step_scope()
    async def later():
        return made()

    result = train()
    assert is_cut(result["loss"], result["parts"][0], asyncio.run(later()))


@shape
def what_is_no_with_statement_is_refused():
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(step_scope())
    except UsageError:
        return
    raise AssertionError("it was not refused")


def main():
    gc.disable()
    wrong = 0
    for function in SHAPES:
        try:
            function()
        except BaseException as error:
            wrong += 1
            step = error.__traceback__
            while step.tb_next is not None:
                step = step.tb_next
            print(f"{function.__name__}: line {step.tb_lineno}: {type(error).__name__}: {error}")
    print(f"{wrong} of {len(SHAPES)} shapes are wrong")


if __name__ == "__main__":
    main()
