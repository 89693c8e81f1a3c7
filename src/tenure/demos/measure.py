"""What these programs measure of themselves, without Tenure: bytes of all tensors that Python sees."""

from __future__ import annotations

import gc
import itertools

import torch


def live_tensor_bytes() -> tuple[int, int]:
    """Bytes of all live storages, each counted once, and how many there are; tensors on meta have none.

    Sees tensors that Python can see; what only autograd's own nodes keep is not in it.
    """
    storages: dict[int, int] = {}
    for item in gc.get_objects():
        if issubclass(type(item), torch.Tensor) and item.device.type != "meta":
            storage = item.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values()), len(storages)


EVERY = 5
"""A look at all objects of the process takes about as long as a small step: at every fifth forward is enough."""


class LiveBytes:
    """Notes the live bytes; ask at the start of each forward."""

    def __init__(self) -> None:
        self.num_forwards = 0
        self.samples: list[tuple[int, int]] = []

    def sample(self) -> None:
        """Note what is alive now; the collector rests meanwhile, for what it would free is the point."""
        self.num_forwards += 1
        if self.num_forwards % EVERY:
            return
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            self.samples.append(live_tensor_bytes())
        finally:
            if was_enabled:
                gc.enable()

    def report(self) -> str:
        """One line: most bytes and storages alive at a forward's start in the second half; growth."""
        settled = self.samples[len(self.samples) // 2 :]
        peak_bytes = max(num_bytes for num_bytes, _ in settled)
        peak_storages = max(num_storages for _, num_storages in settled)
        rises = sorted(after[0] - before[0] for before, after in itertools.pairwise(settled))
        growth = rises[len(rises) // 2] // EVERY if rises else 0
        return (
            f"measured: {peak_bytes} bytes in {peak_storages} storages alive at the start of a forward, "
            f"{growth:+d} bytes per step, {self.num_forwards} forwards"
        )
