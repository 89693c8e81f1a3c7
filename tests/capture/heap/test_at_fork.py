"""What the program asked to be called when it forks."""

from __future__ import annotations

import gc
import os

import pytest

from tenure.capture.heap.at_fork import _Lists, functions_called_at_fork, without_the_programs_functions

LISTS_ALL_OBJECTS = True


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="this system cannot fork")
def test_functions_that_were_frozen_when_they_were_looked_for_are_found_once_they_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def own() -> None:
        pass

    os.register_at_fork(after_in_child=own)  # for good: nothing takes it back
    functions_called_at_fork()
    monkeypatch.setattr(_Lists, "found", ())
    monkeypatch.setattr(_Lists, "num_frozen", 0)
    gc.freeze()
    try:
        assert functions_called_at_fork() == []
    finally:
        gc.unfreeze()

    assert own in functions_called_at_fork()
    assert functions_called_at_fork().count(own) == 1


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="this system cannot fork")
def test_a_fork_that_the_program_did_not_ask_for_calls_none_of_its_functions() -> None:
    called: list[str] = []
    os.register_at_fork(before=lambda: called.append("before"), after_in_parent=lambda: called.append("after"))

    def fork() -> None:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

    with without_the_programs_functions():
        fork()
    unasked = list(called)
    fork()

    assert (unasked, called) == ([], ["before", "after"])
