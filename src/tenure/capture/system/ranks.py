"""Which process of a distributed run this is: by its launcher's environment, else by torch's process group."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Place:
    """`rank` among `world_size` processes, `local_rank` on the machine `node`; None where nobody says."""

    rank: int | None
    local_rank: int | None
    world_size: int | None
    node: str
    restart: int | None
    """How often torchrun has started all ranks again."""

    @property
    def has_others(self) -> bool:
        """Whether the process is one of several."""
        return self.world_size is not None and self.world_size > 1


def find_place(environment: Mapping[str, str] = os.environ) -> Place:
    """This process's place, without a collective: RANK and WORLD_SIZE, or what the default group has noted.

    Programs that make their processes themselves (torch.multiprocessing) may tell the group alone, and only later.
    """
    rank, world_size = read_number(environment, "RANK"), read_number(environment, "WORLD_SIZE")
    if rank is None:
        rank, world_size = _ask_group()
    return Place(
        rank=rank,
        local_rank=read_number(environment, "LOCAL_RANK"),
        world_size=world_size,
        node=platform.node(),
        restart=read_number(environment, "TORCHELASTIC_RESTART_COUNT"),
    )


def read_number(environment: Mapping[str, str], name: str) -> int | None:
    """The whole number in an environment variable; None where it is unset or no number."""
    try:
        return int(environment[name])
    except (KeyError, ValueError):
        return None


def _ask_group() -> tuple[int | None, int | None]:
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None, None
    world_size = int(distributed.get_world_size())
    return (int(distributed.get_rank()), world_size) if world_size > 1 else (None, None)
