"""Local variables of running and waiting frames are read, and nothing is left behind.

Each test runs as it would with the C walk and as it would without.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import types
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tenure.capture.heap import frames

needs_native = pytest.mark.skipif(frames._heapwalk is None, reason="the C walk was not built here")
old_locals = pytest.mark.skipif(sys.version_info >= (3, 13), reason="f_locals is harmless since Python 3.13")


@pytest.fixture(params=[pytest.param("native", marks=needs_native), "plain"], autouse=True)
def _build(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Without the C walk nothing is read under a trace function: a coverage run must not hide the rest."""
    if request.param == "plain":
        monkeypatch.setattr(frames, "_heapwalk", None)
    tracer = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(tracer)


class Thing:
    pass


def here() -> frames.Frame:
    """What is known of the caller."""
    caller = sys._getframe(1)
    return next(frame for frame in frames.running_frames() if frame.frame is caller)


def look() -> None:
    for frame in frames.running_frames():
        assert frame.locals is not None


def test_a_frame_says_where_it_is_and_what_its_variables_are() -> None:
    def outer(argument: int, *rest: object, keyword: str = "k") -> tuple[frames.Frame, int]:
        seen_inside = [argument]

        def inner(own: int) -> tuple[frames.Frame, int]:
            return here(), sys._getframe().f_lineno + len(seen_inside) - own

        return inner(1)

    found, line = outer(7, 8)

    name = "inner" if sys.version_info < (3, 11) else f"{outer.__qualname__}.<locals>.inner"
    assert (found.qualname, found.line, found.first_line) == (name, line, line - 1)
    assert found.file == __file__
    assert found.thread == threading.get_ident()
    assert (dict(found.locals), found.readable) == ({"own": 1, "seen_inside": [7]}, True)


def test_arguments_that_closures_use_are_listed_once() -> None:
    def outer(argument: int, unused: int) -> frames.Frame:
        def inner() -> object:
            return argument

        inner()
        return here()

    found = outer(1, 2).locals

    assert [name for name, _ in found].count("argument") == 1
    assert {name: value for name, value in found if name != "inner"} == {"argument": 1, "unused": 2}


def test_unbound_and_deleted_variables_are_not_listed() -> None:
    def outer() -> frames.Frame:
        first, second = 1, 2
        del first

        def inner() -> None:
            nonlocal second
            del second

        inner()
        return here()

    assert [name for name, _ in outer().locals] == ["inner"]


def test_a_function_drops_its_variable_at_once() -> None:
    thing = Thing()
    alive = weakref.ref(thing)
    look()
    del thing
    assert alive() is None


def test_a_closure_and_its_cell_drop_their_contents_at_once() -> None:
    thing = Thing()
    alive = weakref.ref(thing)

    def inner() -> None:
        nonlocal thing
        assert thing
        look()
        del thing

    inner()
    assert alive() is None


def test_a_comprehension_drops_what_it_iterates_over() -> None:
    alive: list[weakref.ref[Thing]] = []

    def make() -> Thing:
        thing = Thing()
        alive.append(weakref.ref(thing))
        return thing

    gone = [(look(), item)[0] for item in (make() for _ in range(3))]
    assert [gone, *(pointer() for pointer in alive)] == [[None] * 3, None, None, None]


def a_generator() -> Iterator[weakref.ref[Thing] | None]:
    thing = Thing()
    yield weakref.ref(thing)
    look()
    del thing
    yield None


def test_a_generator_drops_its_variable_at_once() -> None:
    generator = a_generator()
    alive = next(generator)
    assert alive is not None
    assert [name for name, _ in frames.suspended_locals(generator)] == ["thing"]
    next(generator)
    assert alive() is None


def test_a_generator_that_is_closed_leaves_nothing() -> None:
    generator = a_generator()
    alive = next(generator)
    assert alive is not None
    assert type(dict(frames.suspended_locals(generator))["thing"]) is Thing
    generator.close()  # type: ignore[attr-defined]
    assert alive() is None
    assert frames.suspended_locals(generator) == []


def test_a_generator_that_has_not_begun_shows_its_arguments() -> None:
    free = [1]

    def generate(argument: int) -> Iterator[object]:
        yield free, argument

    assert dict(frames.suspended_locals(generate(3))) == {"argument": 3, "free": [1]} or (
        sys.version_info[:2] == (3, 11) and frames._heapwalk is None
    )


@types.coroutine
def pause() -> Iterator[None]:
    yield


def test_coroutines_drop_their_variables_at_once() -> None:
    async def coroutine() -> weakref.ref[Thing]:
        thing = Thing()
        await pause()
        alive = weakref.ref(thing)
        look()
        del thing
        return alive

    running = coroutine()
    running.send(None)
    assert [name for name, _ in frames.suspended_locals(running)] == ["thing"]
    with pytest.raises(StopIteration) as stop:
        running.send(None)
    assert stop.value.value() is None


def test_asynchronous_generators_are_read_too() -> None:
    async def generate(argument: int) -> AsyncIterator[int]:
        yield argument

    async def main() -> list[tuple[str, object]]:
        generator = generate(5)
        await generator.__anext__()
        found = frames.suspended_locals(generator)
        await generator.aclose()  # type: ignore[attr-defined]
        return found

    assert asyncio.run(main()) == [("argument", 5)]


def test_the_programs_own_locals_dictionary_is_untouched() -> None:
    number = 1
    mine = locals()
    number = 2
    look()
    assert (mine["number"], sorted(mine), number) == (1, ["number"], 2)


@old_locals
def test_a_dictionary_that_somebody_holds_is_not_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    def inner() -> tuple[dict[str, Any], frames.Frame]:
        number = 1
        held = held_by_other(number)
        return held, here()

    def held_by_other(_: int) -> dict[str, Any]:
        return sys._getframe(1).f_locals

    held, found = inner()
    assert held["number"] == 1
    assert found.readable == (frames._heapwalk is not None)


def test_namespaces_of_modules_and_classes_are_untouched() -> None:
    namespace: dict[str, Any] = {"look": look, "here": here}
    source = "value = [1]\nlook()\nclass C:\n    member = 2\n    look()\n    found = here()\nafter = value\n"
    exec(compile(source, "made", "exec"), namespace)

    assert (namespace["after"], namespace["C"].member) == ([1], 2)
    assert (namespace["C"].found.locals, namespace["C"].found.readable) == ([], True)
    assert "test_namespaces_of_modules_and_classes_are_untouched" in globals()


@pytest.mark.parametrize("install", [sys.settrace, sys.setprofile])
def test_variables_stay_bound_under_a_trace_function(install: Callable[[Any], None]) -> None:
    events: list[str] = []

    def tracer(frame: types.FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_name == "traced":
            events.append(event)
            look()
            frames.locals_of(frame)
        return tracer

    def traced(first: int) -> int:
        second = first + 1
        look()
        third = second + 1

        def inner() -> int:
            return third

        return first + second + inner()

    install(tracer)
    try:
        result = traced(1)
    finally:
        install(None)
    assert (result, "call" in events, "return" in events) == (6, True, True)


@old_locals
def test_what_could_not_be_read_says_so() -> None:
    def inner() -> frames.Frame:
        kept = [1]
        kept.copy()
        return here()

    sys.setprofile(lambda *_: None)
    try:
        found = inner()
    finally:
        sys.setprofile(None)
    native = frames._heapwalk is not None
    assert (found.readable, found.locals) == (native, [("kept", [1])] if native else [])


def test_frames_of_all_threads_are_found_once() -> None:
    begin, end = threading.Event(), threading.Event()

    def waiting(in_thread: str) -> None:
        begin.set()
        end.wait()

    thread = threading.Thread(target=waiting, args=("x",))
    thread.start()
    begin.wait()
    found = frames.running_frames()
    end.set()
    thread.join()

    mine = [frame for frame in found if frame.frame.f_code is waiting.__code__]
    assert [(frame.thread, dict(frame.locals)["in_thread"]) for frame in mine] == [(thread.ident, "x")]
    assert len({id(frame.frame) for frame in found}) == len(found)
    assert not [frame for frame in found if frame.file == frames.__file__]


def failed_frame(argument: int) -> types.FrameType:
    def failing(local: list[int]) -> None:
        raise RuntimeError(argument, local)

    with pytest.raises(RuntimeError) as failure:
        failing([argument])
    return failure.tb.tb_frame if failure.tb.tb_next is None else failure.tb.tb_next.tb_frame


def test_a_frame_kept_by_a_traceback_is_read() -> None:
    assert dict(frames.locals_of(failed_frame(4))) == {"local": [4], "argument": 4}


def test_a_cleared_frame_has_no_variables() -> None:
    frame = failed_frame(4)
    frame.clear()
    assert frames.locals_of(frame) == []


@needs_native
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="thread stacks can be asked on Linux only")
def test_the_smallest_stack_is_that_of_the_smallest_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    before = threading.stack_size(256 * 1024)
    begin, end = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (begin.set(), end.wait()))
    thread.start()
    threading.stack_size(before)
    begin.wait()
    small = frames.smallest_stack_bytes()
    end.set()
    thread.join()

    if frames._heapwalk is not None:
        assert small <= 256 * 1024
        assert frames._heapwalk.thread_stack_bytes(1) is None
    assert frames.smallest_stack_bytes() >= small


def test_a_stack_size_set_for_threads_to_come_counts() -> None:
    before = threading.stack_size(128 * 1024)
    try:
        assert frames.smallest_stack_bytes() <= 128 * 1024
    finally:
        threading.stack_size(before)


class Plain:
    def __init__(self) -> None:
        self.a = 1
        self.b = [2]
        self.c = 3
        del self.c


@needs_native
@pytest.mark.skipif(sys.version_info < (3, 11), reason="every instance has a dict before Python 3.11")
def test_values_of_an_instance_are_read_without_making_its_dict() -> None:
    from tenure.capture.heap.heapwalk import instance_values

    item, other, slotted = Plain(), Plain(), types.SimpleNamespace()
    assert instance_values(item) == [("a", 1), ("b", [2])]
    assert instance_values(item) == [("a", 1), ("b", [2])]
    assert vars(other) == {"a": 1, "b": [2]}
    other.__dict__["d"] = 1
    assert [instance_values(each) for each in (other, slotted, 3, Plain, [])] == [None] * 5


def test_asking_for_the_smallest_stack_leaves_the_programs_setting_as_it_was() -> None:
    before = threading.stack_size(256 * 1024)
    try:
        assert frames.smallest_stack_bytes() <= 256 * 1024
        assert threading.stack_size() == 256 * 1024
    finally:
        threading.stack_size(before)
