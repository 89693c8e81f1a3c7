"""Calls each helper in a process that has not started CUDA and forks then: whether the child can use the device."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import torch

import tenure


def step() -> None:
    with tenure.step_scope() as scope:
        loss = torch.ones(3, requires_grad=True).sum()
    str(scope.outcome)
    str(loss)


def let_go() -> None:
    tensor = torch.ones(3)
    with tenure.expect_freed(tensor):
        del tensor


def collect() -> None:
    with tenure.collect_at_steps() as collector:
        collector.step()


def guard() -> None:
    with tenure.oom_guard(then="skip", record=False):
        raise torch.OutOfMemoryError("not really")


CALLS: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "memory": tenure.memory,
    "caches": tenure.caches,
    "clear_caches": lambda: tenure.clear_caches("cublas", "pinned", "allocator"),
    "TrimPolicy": lambda: tenure.TrimPolicy().step(),
    "step_scope": step,
    "LossMeter": lambda: tenure.LossMeter().update(0.5),
    "TensorPool": lambda: tenure.TensorPool().take((3,)),
    "expect_freed": let_go,
    "release": lambda: tenure.release(torch.nn.Linear(2, 2)),
    "collect_at_steps": collect,
    "find_batch_size": lambda: tenure.find_batch_size(lambda size: None, limit="1TiB", most=2),
    "oom_guard": guard,
}


def use_the_device() -> int:
    try:
        return 0 if float(torch.ones(2, device="cuda").sum()) == 2.0 else 1
    except RuntimeError:
        return 2


def exit_code_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def begin(act: Callable[[], Any]) -> int:
    """A process that calls it, and exits as a child of its own does that uses the device."""
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        act()
        grandchild = os.fork()
        if not grandchild:
            os._exit(use_the_device())
        code = exit_code_of(grandchild)
    finally:
        os._exit(code)


children = {name: begin(act) for name, act in CALLS.items()}
print(json.dumps({name: exit_code_of(child) for name, child in children.items()}))
