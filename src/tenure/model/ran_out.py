"""What tensors were where device memory ran out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HeldThen:
    """Storages that are held alike: their role, the shortest path to one of them as Python writes it, and the rule of
    the finding that explains them.

    `name` is empty for parameters and their like, which have a role and no single name, and where no root leads to
    them: C++ holds them. `rule` is empty where no finding does.
    """

    role: str
    name: str
    bytes: int
    num_storages: int
    rule: str = ""


@dataclass(frozen=True)
class RanOut:
    """The first time that device memory ran out, in the step after `step`: tensors on `device`, the heaviest first.

    `bytes` are of all of them; `held` are the heaviest groups. What no tensor covers is in neither.
    """

    step: int
    device: str
    bytes: int
    held: tuple[HeldThen, ...]
    rank: int | None = None
