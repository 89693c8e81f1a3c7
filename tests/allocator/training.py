"""Training loops as torch would record them: the program's lines, and torch's own frames around them."""

from __future__ import annotations

from typing import Any

from allocator.recorded import Program
from tenure.allocator.blocks import Block
from tenure.allocator.settings import MIB
from tenure.model.allocator import Snapshot
from tenure.store.torch_snapshot import snapshot_from_bytes

PARAMETERS = (6 * MIB, 3 * MIB)
ACTIVATIONS = (14 * MIB, 12 * MIB)
TORCH = "/env/site-packages/torch"


def frame(function: str, file: str, line: int) -> dict[str, Any]:
    """One line of a stack."""
    return {"name": function, "filename": file, "line": line}


MAIN = frame("main", "/home/me/train.py", 30)
MODEL = [frame("helper", "/home/me/model.py", 12), frame("_call_impl", f"{TORCH}/nn/modules/module.py", 1790), MAIN]
LOSS = [frame("helper", "/home/me/loss.py", 5), MAIN]
BACKWARD = [frame("backward", f"{TORCH}/_tensor.py", 631), MAIN]
OPTIMIZER = [frame("helper", f"{TORCH}/optim/adam.py", 200), frame("wrapper", f"{TORCH}/optim/optimizer.py", 533), MAIN]
ZERO_GRAD = [frame("zero_grad", f"{TORCH}/optim/optimizer.py", 900), MAIN]
SETUP = [frame("main", "/home/me/train.py", 10)]
LOADING = [frame("main", "/home/me/train.py", 20)]
KEEPING = [frame("keep", "/home/me/loss.py", 9), MAIN]


class Training:
    """Steps of a model with two parameters under Adam; `leak_bytes` of each step's forward stay for good."""

    def __init__(self, *, leak_bytes: int = 0, engine_stacks: bool = False) -> None:
        self.program = Program()
        self.leak_bytes = leak_bytes
        self.engine = [frame("torch::autograd::Engine::thread_main", "??", 0)] if engine_stacks else []
        self.state: list[Block] = []
        self.gradients: list[Block] = []
        for size in PARAMETERS:
            self.ask(size, SETUP)

    def ask(self, size: int, frames: list[dict[str, Any]]) -> Block:
        """A block that these frames ask for."""
        self.program.frames = frames
        block = self.program.allocate(size)
        assert block is not None
        return block

    def free(self, frames: list[dict[str, Any]], *blocks: Block) -> None:
        """Blocks that these frames free."""
        self.program.frames = frames
        for block in blocks:
            self.program.free(block)

    def step(self, *, until: str = "") -> None:
        """One step; `until` "forward" ends it before backward."""
        batch = self.ask(2 * MIB, LOADING)
        self.free(ZERO_GRAD, *self.gradients)
        scratch = self.ask(5 * MIB, MODEL)
        saved = [self.ask(size, MODEL) for size in ACTIVATIONS]
        self.free(MODEL, scratch)
        if self.leak_bytes:
            self.ask(self.leak_bytes, KEEPING)
        if until == "forward":
            return
        loss = self.ask(512, LOSS)
        root = self.ask(512, BACKWARD)
        self.gradients = []
        for size, activation in zip(reversed(PARAMETERS), reversed(saved), strict=True):
            scratch = self.ask(4 * MIB, self.engine)
            self.gradients.append(self.ask(size, self.engine))
            self.free(self.engine, scratch, activation)
        self.free(BACKWARD, root)
        if not self.state:
            self.state = [self.ask(size, OPTIMIZER) for size in PARAMETERS for _ in range(2)]
        self.free(OPTIMIZER, self.ask(7 * MIB, OPTIMIZER))
        self.free(LOADING, loss, batch)

    def read(self, keep_last: int | None = None) -> Snapshot:
        """The snapshot of all of it, or of its last events."""
        return snapshot_from_bytes(self.program.pickled(keep_last), "made")
