from __future__ import annotations

import atexit
import contextvars
import functools
import os
import queue
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator

import pytest
import torch

from tenure.analysis.heap.graph import build_graph
from tenure.analysis.heap.paths import path_to, shortest_paths
from tenure.analysis.heap.wording import render_path
from tenure.capture.heap.census import take_census
from tenure.capture.heap.heapwalk import NATIVE
from tenure.capture.heap.roots import file_of_code, find_hidden_roots

LISTS_ALL_OBJECTS = True

READS_ATEXIT = NATIVE and (3, 11) <= sys.version_info < (3, 14)
NUMBER = 7919


def tensor() -> torch.Tensor:
    """A tensor whose shape no other has."""
    return torch.zeros(NUMBER)


def path_of_the_tensor() -> tuple[str, ...]:
    """The path to the only storage of `NUMBER` elements, in words."""
    census = take_census(step=1, moment="request")
    graph = build_graph(census)
    (node,) = (
        int(node)
        for node, shape in zip(census.storages.node, census.storages.shape, strict=True)
        if census.text(int(shape)) == f"[{NUMBER}]"
    )
    return render_path(graph, path_to(graph, shortest_paths(graph), node))


class Trainer:
    def __init__(self) -> None:
        self.weights = tensor()

    def save(self, *_: object) -> None:
        pass


@pytest.fixture
def exit_handler() -> Iterator[Callable[..., None]]:
    """Registers a function for the interpreter's exit, and takes it out again."""
    registered = []

    def register(function: Callable[..., object], *arguments: object) -> None:
        registered.append(weakref.WeakMethod(function) if hasattr(function, "__self__") else weakref.ref(function))
        atexit.register(function, *arguments)

    yield register
    for reference in registered:
        atexit.unregister(reference())  # type: ignore[arg-type]


def test_a_signal_handler_is_told_by_its_signal() -> None:
    before = signal.signal(signal.SIGUSR1, Trainer().save)
    try:
        assert path_of_the_tensor() == ("signal handler of SIGUSR1", ".__self__", ".weights")
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_handler_of_two_signals_has_no_owner_that_is_unseen() -> None:
    handler = Trainer().save
    before = [signal.signal(number, handler) for number in (signal.SIGUSR1, signal.SIGUSR2)]
    address = id(handler)
    del handler
    try:
        census = take_census(step=1, moment="request")
        assert census.nodes.unseen[census.nodes.address == address].tolist() == [0]
    finally:
        for number, old in zip((signal.SIGUSR1, signal.SIGUSR2), before, strict=True):
            signal.signal(number, old)


@pytest.mark.skipif(not READS_ATEXIT, reason="exit handlers can be read by the C walk on 3.11 to 3.13 only")
def test_an_exit_handler_is_told_by_its_function(exit_handler: Callable[..., None]) -> None:
    exit_handler(Trainer().save)

    assert path_of_the_tensor() == ("atexit handler Trainer.save", ".__self__", ".weights")


@pytest.mark.skipif(not READS_ATEXIT, reason="exit handlers can be read by the C walk on 3.11 to 3.13 only")
def test_what_an_exit_handler_will_be_called_with_is_told_as_its_arguments(exit_handler: Callable[..., None]) -> None:
    def report(_: torch.Tensor) -> None:
        pass

    exit_handler(report, tensor())

    (text, *rest) = path_of_the_tensor()
    assert (text.startswith("atexit handler"), text.endswith("report: args"), rest) == (True, True, ["[0]"])


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="handlers of forks exist where processes fork")
def test_a_handler_of_forks_is_told_by_its_function_and_ours_are_not() -> None:
    trainer = Trainer()
    os.register_at_fork(after_in_child=trainer.save)  # for good: nothing takes it back
    owner = weakref.ref(trainer)
    del trainer
    try:
        assert path_of_the_tensor() == ("at-fork handler Trainer.save", ".__self__", ".weights")
        names = [root.name for root in find_hidden_roots() if root.name.startswith("at-fork")]
        assert not any("call_in_forked_children" in name or "_mark" in name for name in names)
    finally:
        vars(owner()).clear()


def test_finding_hidden_roots_asks_no_object_of_the_programs_for_anything(exit_handler: Callable[..., None]) -> None:
    asked: list[str] = []

    class Nosy:
        def __call__(self, *_: object) -> None:
            pass

        def __getattribute__(self, name: str) -> object:
            asked.append(name)
            return object.__getattribute__(self, name)

        def __bool__(self) -> bool:
            asked.append("bool")
            return True

        def __eq__(self, other: object) -> bool:
            asked.append("==")
            return self is other

        __hash__ = None  # type: ignore[assignment]

    nosy = Nosy()
    before = signal.signal(signal.SIGUSR1, nosy)
    exit_handler(nosy)
    asked.clear()
    try:
        names = [root.name for root in find_hidden_roots()]
        while_finding = tuple(asked)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert ("signal handler of SIGUSR1" in names, while_finding) == (True, ())


def test_a_context_variable_is_told_by_its_name() -> None:
    variable: contextvars.ContextVar[object] = contextvars.ContextVar("hidden_state")
    token = variable.set(tensor())
    try:
        del token
        assert path_of_the_tensor() == (
            "the context (contextvars) of a running thread or task",
            "context variable `hidden_state`",
        )
    finally:
        variable.set(None)


def test_a_thread_locals_value_is_its_attribute() -> None:
    cache = threading.local()
    cache.table = tensor()

    text, attribute = path_of_the_tensor()

    assert (text.partition(" in ")[0], attribute) == ("local variable `cache`", ".table")


def test_a_queues_items_are_its_own() -> None:
    waiting: queue.SimpleQueue[torch.Tensor] = queue.SimpleQueue()
    waiting.put(tensor())

    text, item = path_of_the_tensor()

    assert (text.partition(" in ")[0], item) == ("local variable `waiting`", "[0]")


def test_a_weak_references_callback_is_named() -> None:
    trainer = Trainer()
    trainer.weights = torch.zeros(1)
    reference = weakref.ref(trainer, functools.partial(print, tensor()))

    text, *rest = path_of_the_tensor()

    assert reference() is trainer
    assert (text.partition(" in ")[0], rest) == ("local variable `reference`", [".__callback__", ".args", "[0]"])


def profile_for(trainer: Trainer) -> None:
    def count(*_: object) -> None:
        trainer.save()

    sys.setprofile(count)


@pytest.mark.slow
def test_a_function_that_profiles_keeps_what_it_closes_over() -> None:
    former = sys.getprofile()
    profile_for(Trainer())
    try:
        path = path_of_the_tensor()
    finally:
        sys.setprofile(former)

    assert path[0] == "function given to `sys.setprofile`"
    assert path[-1] == ".weights"


def test_a_namespace_without_a_file_is_told_by_the_code_that_runs_at_its_top() -> None:
    namespace: dict[str, object] = {"path_of_the_tensor": path_of_the_tensor, "kept": tensor(), "__name__": "session"}

    exec(compile("found = path_of_the_tensor()", "<cell-4>", "exec"), namespace)

    assert namespace["found"] == ("global `kept` in session (<cell-4>)",)


def test_one_whose_code_has_ended_is_told_by_its_own_functions() -> None:
    space: dict[str, object] = {"helper": path_of_the_tensor}
    exec(compile("def fit(): pass", "<cell-2>", "exec"), space)

    assert (file_of_code(space, ()), file_of_code({"helper": path_of_the_tensor}, ())) == ("<cell-2>", "")
