"""Runs out of a real device's memory in several ways, 400 MiB being allowed, and says what each left behind."""

from __future__ import annotations

import json
from typing import Any

import torch
from limited import allow

import tenure

allow(400)
weight = torch.ones(4 << 20, device="cuda", requires_grad=True)  # 16 MiB


def num_ooms() -> int:
    return torch.cuda.memory_stats()["num_ooms"]


def try_again() -> dict[str, Any]:
    """Eight times the batch is too much for 64 MiB, and fits for 32 MiB."""

    @tenure.oom_guard(then="retry", record=False)
    def step(batch: torch.Tensor) -> tuple[int, float]:
        copies = [batch * number for number in range(8)]
        return len(batch), float(copies[1].sum())

    batch = torch.ones(16, 1 << 20, device="cuda")
    before = torch.cuda.memory_allocated()
    result = step(batch)
    left = torch.cuda.memory_allocated() - before
    return {"result": result, "left": left, "did": step.guard.outcome.did[-1], "num_ooms": num_ooms()}


def failing_step(copies: int, kept: list[torch.Tensor] | None = None) -> float:
    hidden = weight * 2
    if kept is not None:
        kept.append(hidden)
    outputs = [hidden.exp()]
    while len(outputs) < copies:
        outputs.append(outputs[-1] * 0.5)
    return outputs[-1].sum().item()


def block(guard: Any, copies: int) -> None:
    with guard:
        failing_step(copies)


def go_on() -> dict[str, Any]:
    """The error is raised and kept, as a program that logs it would keep it."""
    guard = tenure.oom_guard(record=False)
    before = torch.cuda.memory_allocated()
    errors = []
    try:
        block(guard, 40)
    except torch.OutOfMemoryError as error:
        errors.append(error)
    left = torch.cuda.memory_allocated() - before
    row = next(each for each in guard.outcome.devices if each.device == "cuda:0")
    return {
        "left": left,
        "what": guard.outcome.what,
        "note": guard.outcome.notes[0],
        "complete": guard.outcome.complete,
        "row": [row.after_bytes - before, row.expected_bytes, row.freed_bytes, row.reserved_after_bytes],
        "reserved": torch.cuda.memory_reserved(),
        "next": failing_step(2),
        "errors": len(errors),
    }


def somebody_keeps() -> dict[str, Any]:
    kept: list[torch.Tensor] = []
    guarded = tenure.oom_guard(then="skip", record=False)(failing_step)
    before = torch.cuda.memory_allocated()
    result = guarded(40, kept)
    left = torch.cuda.memory_allocated() - before
    survivors = [[each.what, each.device, each.bytes, "".join(each.path)] for each in guarded.guard.outcome.survivors]
    return {"result": result, "left": left, "survivors": survivors, "kept": len(kept)}


class Greedy(torch.autograd.Function):
    """Its backward wants more than there is."""

    @staticmethod
    def forward(context: Any, values: torch.Tensor) -> torch.Tensor:
        return values * 1

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:
        mine = gradient + 1
        return mine + torch.empty(1 << 30, dtype=torch.uint8, device="cuda").sum()


def in_backward() -> dict[str, Any]:
    guard = tenure.oom_guard(then="skip", record=False)
    left = []
    for _ in range(3):
        before = torch.cuda.memory_allocated()
        with guard:
            loss = Greedy.apply(weight * 2).sum()
            loss.backward()
        left.append(torch.cuda.memory_allocated() - before)
    return {"left": left, "happened": guard.happened, "did": guard.outcome.did[-1], "loss": loss is None}


answer = {"retry": try_again(), "raise": go_on(), "kept": somebody_keeps(), "backward": in_backward()}
print(json.dumps(answer))
