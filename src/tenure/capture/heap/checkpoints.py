"""What a non-reentrant checkpoint keeps to compute its part again.

Since torch 2.13 its inputs lie in saved tensors in a list of its own (`torch.utils.checkpoint._CheckpointFrame`),
outside of any node of a graph, where the collector does not see them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenure.capture.guarding.classes import module_of, name_of, qualname_of
from tenure.capture.heap.autograd import ReadSlot, SavedSlot
from tenure.capture.tensors.nested import instance_dict

_TYPE = ("torch.utils.checkpoint", "_CheckpointFrame")


def is_checkpoint(cls: type) -> bool:
    """Whether objects of a type are checkpoints whose part may have to be computed again."""
    return (module_of(cls), qualname_of(cls)) == _TYPE


def saved_inputs(checkpoint: Any, read: ReadSlot) -> Iterator[SavedSlot]:
    """The saved tensors among a checkpoint's inputs, never unpacked; `read` comes from `autograd.how_to_read()`."""
    for index, saved in enumerate((instance_dict(checkpoint) or {}).get("saved_args") or ()):
        if name_of(type(saved)) == "SavedTensor":
            yield SavedSlot(f"input[{index}]", *read(saved))
