"""Activation checkpointing of the blocks that a model repeats: their forward runs again in backward."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch.utils.checkpoint import checkpoint

from tenure.capture.trying.program import Program, trains

_DONE = "_tenure_checkpoints"


@dataclass(frozen=True)
class Blocks:
    """Children of one class in a list or a sequence of modules."""

    container: str
    of_class: str
    blocks: tuple[torch.nn.Module, ...]


def find_blocks(program: Program) -> list[Blocks]:
    """Of each outermost `ModuleList` or `Sequential` those children that have children themselves and share a class.

    A single layer is no block, for what it would save is what the next one keeps; nor is a sequence of blocks.
    """
    found: list[Blocks] = []
    inside: set[int] = set()
    for name, module in program.modules:  # outer ones come first, by their names
        if not isinstance(module, (torch.nn.ModuleList, torch.nn.Sequential)) or id(module) in inside:
            continue
        composed = [child for child in module.children() if _is_block(child)]
        for cls, count in Counter(map(type, composed)).items():
            if count > 1:
                blocks = [child for child in composed if type(child) is cls]
                found.append(Blocks(name, cls.__name__, tuple(blocks)))
                inside.update(map(id, _all_below(blocks)))
    return found


def _is_block(module: torch.nn.Module) -> bool:
    children = list(module.children())
    is_row = isinstance(module, torch.nn.Sequential) and any(any(True for _ in child.children()) for child in children)
    return bool(children) and not is_row and not isinstance(module, torch.nn.ModuleList) and trains(module)


def _all_below(blocks: Sequence[torch.nn.Module]) -> Iterator[torch.nn.Module]:
    for block in blocks:
        yield from block.modules()


def checkpoint_blocks(program: Program, number: int | None = None) -> None:
    """Have each block checkpoint itself, or the first so many; blocks that do are left as they are."""
    blocks = [block for group in find_blocks(program) for block in group.blocks]
    for block in blocks[:number]:
        if _DONE not in block.__dict__:
            block.__dict__[_DONE] = True
            block.__dict__["forward"] = functools.partial(checkpoint, block.forward, use_reentrant=False)
