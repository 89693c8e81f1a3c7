"""The case that docs/fragmentation.md walks through: a training loop that keeps the predictions of each evaluation.

`python tests/allocator/fragmentation_case.py` writes its two snapshots, as they lie beside this file.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from allocator.recorded import Program
from allocator.training import TORCH, ZERO_GRAD, frame
from tenure.allocator.blocks import Block
from tenure.allocator.settings import MIB

FOLDER = Path(__file__).resolve().parent / "cases"
KEPT, MENDED = "predictions_kept.pickle.gz", "predictions_in_one_tensor.pickle.gz"
EPOCHS, STEPS = 8, 3
PREDICTIONS = 40 * MIB
PARAMETERS = (34 * MIB, 12 * MIB)
SAVED = 72 * MIB
SCRATCH = 36 * MIB


def line(number: int) -> dict[str, Any]:
    return frame("main", "/home/me/train.py", number)


def within(function: str, number: int) -> list[dict[str, Any]]:
    """A line of the model, called through torch from train.py."""
    return [
        frame(function, "/home/me/model.py", number),
        frame("_call_impl", f"{TORCH}/nn/modules/module.py", 1790),
        line(29),
    ]


OPTIMIZER = [frame("_init_group", f"{TORCH}/optim/adamw.py", 120), frame("wrapper", f"{TORCH}/optim/optimizer.py", 533)]


class _Case:
    def __init__(self) -> None:
        self.program = Program()
        self.state: list[Block] = []
        self.gradients: list[Block] = []

    def ask(self, size: int, *frames: dict[str, Any]) -> Block:
        self.program.frames = list(frames)
        block = self.program.allocate(size)
        assert block is not None
        return block

    def free(self, frames: list[dict[str, Any]], *blocks: Block) -> None:
        self.program.frames = frames
        for block in blocks:
            self.program.free(block)

    def train(self) -> None:
        """One step."""
        batch = self.ask(MIB, line(26))
        self.free(ZERO_GRAD, *self.gradients)
        saved = [self.ask(SAVED, *within("encode", 41)), self.ask(SAVED, *within("attend", 58))]
        self.free(within("attend", 60), self.ask(SCRATCH, *within("attend", 57)))
        loss = self.ask(512, line(32))
        self.gradients = []
        for size, activation in zip(reversed(PARAMETERS), reversed(saved), strict=True):
            flowing = self.ask(SCRATCH)
            self.gradients.append(self.ask(size))
            self.free([], flowing, activation)
        if not self.state:
            self.state = [self.ask(size, *OPTIMIZER, line(34)) for size in PARAMETERS for _ in range(2)]
        self.free([*OPTIMIZER, line(34)], self.ask(PARAMETERS[0], *OPTIMIZER, line(34)))
        self.free([line(27)], loss, batch)


def program_of(*, mended: bool) -> Program:
    """The program's trace; `mended` keeps all predictions in one tensor that is made before the first step."""
    case = _Case()
    for size in PARAMETERS:
        case.ask(size, line(14))
    if mended:
        case.ask(EPOCHS * PREDICTIONS, line(19))
    for _ in range(EPOCHS):
        for _ in range(STEPS):
            case.train()
        hidden = case.ask(SAVED, *within("encode", 41))
        predicted = case.ask(PREDICTIONS, *within("head", 63))
        case.free(within("encode", 44), hidden)
        if mended:  # copied into the one tensor
            case.free([line(38)], predicted)
    return case.program


def packed(*, mended: bool) -> bytes:
    """The snapshot as it lies in the folder."""
    return gzip.compress(program_of(mended=mended).pickled(), 9, mtime=0)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / KEPT).write_bytes(packed(mended=False))
    (FOLDER / MENDED).write_bytes(packed(mended=True))
