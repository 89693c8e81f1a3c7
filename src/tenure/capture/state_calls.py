"""Calls that load or save the state of a model: while one runs, what is loaded or saved lies beside the model.

No step's census sees that, for it is gone when the call is over. So one is taken as the call begins, of the first
few that are given more than those before them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.optim.optimizer import Optimizer

from tenure.capture.guarding.replaced import Replaced
from tenure.capture.system.file_mappings import find_mapped
from tenure.capture.tensors.nested import nested_tensors
from tenure.capture.tensors.storages import StorageFacts, StorageTable
from tenure.model.recording import LOADING, SAVING

MOST_LOOKS = 2
"""At calls of each kind."""
MOST_CALLS = 64
"""Of each kind are asked what they are given: a target network takes its weights over and over."""
LEAST_BYTES = 128 << 10
"""What is given less is not looked at."""
LEAST_RISE = 1.25
"""So many times what was given to the calls before."""


@dataclass
class _Seen:
    """Calls of one kind until now."""

    num_calls: int = 0
    num_looks: int = 0
    most_given: int = 0


class StateCalls:
    """Watches `load_state_dict` of modules and optimizers and `torch.save` until closed.

    `guard` runs our own code, `optimizers` are the program's, `is_affordable` says whether a census may be taken now,
    `look(moment, given)` takes it. What the optimizers work on is no copy, and weights that are mapped from a file are
    no memory of the process: `torch.load(..., mmap=True)` is what we advise.
    """

    def __init__(
        self,
        guard: Callable[..., None],
        optimizers: Callable[[], Iterable[Optimizer]],
        is_affordable: Callable[[], bool],
        look: Callable[[str, object], None],
    ) -> None:
        self._guard = guard
        self._optimizers = optimizers
        self._is_affordable = is_affordable
        self._look = look
        self._seen = {LOADING: _Seen(), SAVING: _Seen()}
        save = self._saving(torch.save)
        self._replaced = (
            Replaced(torch.nn.Module, "load_state_dict", self._loading),
            Replaced(Optimizer, "load_state_dict", self._loading),
            Replaced(torch, "save", lambda _: save),
            # The same where it is defined, or nobody could pickle it.
            Replaced(torch.serialization, "save", lambda _: save),
        )

    def close(self) -> None:
        """Leave torch as it was found."""
        for each in self._replaced:
            each.close()

    def _loading(self, original: Any) -> Any:
        @functools.wraps(original)
        def load_state_dict(self_: Any, *args: Any, **kwargs: Any) -> Any:
            self._begin(LOADING, args[0] if args else kwargs.get("state_dict"))
            return original(self_, *args, **kwargs)

        return load_state_dict

    def _saving(self, original: Any) -> Any:
        @functools.wraps(original)
        def save(*args: Any, **kwargs: Any) -> Any:
            self._begin(SAVING, args[0] if args else kwargs.get("obj"))
            return original(*args, **kwargs)

        return save

    def _begin(self, moment: str, given: object) -> None:
        seen = self._seen[moment]
        is_over = seen.num_calls >= MOST_CALLS or seen.num_looks >= MOST_LOOKS
        if not is_over and not torch.compiler.is_compiling():
            self._guard(self._take, moment, given)

    def _take(self, moment: str, given: object) -> None:
        seen = self._seen[moment]
        seen.num_calls += 1
        num_bytes = _bytes_beside(given, self._optimizers())
        if num_bytes < max(LEAST_BYTES, LEAST_RISE * seen.most_given) or not self._is_affordable():
            return
        seen.most_given = num_bytes
        seen.num_looks += 1
        self._look(f"{moment}{seen.num_looks}", (given,))


def _bytes_beside(given: object, optimizers: Iterable[Optimizer]) -> int:
    """Of all storages of the tensors that are given, but of those that optimizers work on and those in mapped files."""
    work = (value for each in optimizers for value in (each.param_groups, each.state))
    with torch._C.DisableTorchFunction():
        storages = _storages(nested_tensors(given))
        used = _storages(tensor for each in work for tensor in nested_tensors(each))
    in_files = find_mapped(facts.pointer for facts in storages.values() if facts.device == "cpu")
    return sum(facts.num_bytes for known, facts in storages.items()
               if known not in used and facts.pointer not in in_files)  # fmt: skip


def _storages(tensors: Iterable[torch.Tensor]) -> dict[int, StorageFacts]:
    table = StorageTable()
    for tensor in tensors:
        table.add(tensor)
    return table.by_id
