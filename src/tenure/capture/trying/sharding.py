"""Shards of a program's models, as FSDP2 makes them, for one rank of many that run in this process alone."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import torch

from tenure.capture.trying.checkpointing import find_blocks
from tenure.capture.trying.one_rank import FakeGroup, why_no_ranks
from tenure.capture.trying.program import BeforeCall, Program, find_program, once_for_each


def shard_over(world_size: int) -> BeforeCall:
    """Calls `fully_shard` on the repeated blocks of each outermost model and on the model, before its first call.

    Optimizers that have its parameters get its shards in their place. The process group is a fake one. Models that
    train nothing are left whole, as their gathering would be the same.
    """
    group = FakeGroup(world_size)

    def shard(model: torch.nn.Module) -> None:
        fully_shard = _fully_shard()
        group.make()
        before = dict(_parameters_of(model))
        for found in find_blocks(Program(tuple(model.named_modules()), ())):
            for block in found.blocks:
                fully_shard(block)
        fully_shard(model)
        shards = dict(_parameters_of(model))
        _replace_in_optimizers({id(parameter): shards[place] for place, parameter in before.items()})

    return once_for_each(shard)


def why_not_sharded() -> str | None:
    """Why a program is not run in shards; None where it can be."""
    if torch.distributed.is_available() and _fully_shard() is None:
        return "this torch has no `fully_shard`"
    return why_no_ranks("`fully_shard`")


def _fully_shard() -> Any:
    return getattr(importlib.import_module("torch.distributed.fsdp"), "fully_shard", None)


def _parameters_of(model: torch.nn.Module) -> Iterator[tuple[tuple[int, str], torch.nn.Parameter]]:
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            yield (id(module), name), parameter


def _replace_in_optimizers(shards: dict[int, torch.nn.Parameter]) -> None:
    for optimizer in find_program().optimizers:
        for group in optimizer.param_groups:
            group["params"] = [shards.get(id(parameter), parameter) for parameter in group["params"]]
