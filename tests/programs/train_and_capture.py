"""Trains, and every other step has torch write down what a new model does: python train_and_capture.py WAY."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable

import torch

warnings.simplefilter("ignore")
BATCH = torch.linspace(-1, 1, 32).reshape(4, 8)


class Classifier(torch.nn.Module):
    """Asks its input for a size, which a trace notes."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = torch.nn.Linear(8, 6), torch.nn.Linear(6, 3)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.first(inputs.view(inputs.size(0), -1))))


def frozen(model: torch.nn.Module) -> object:
    """A trace whose weights become constants."""
    with torch.no_grad():
        return torch.jit.freeze(torch.jit.trace(model.eval(), BATCH)).graph


def ahead(model: torch.nn.Module) -> object:
    """Compiled without a call; what it gives says that it was."""
    compiled = torch.compile(model, fullgraph=True, backend="eager").forward.aot_compile(((BATCH,), {}))
    return compiled(model, BATCH).tolist()


WAYS: dict[str, Callable[[torch.nn.Module], object]] = {
    "traced": lambda model: torch.jit.trace(model, BATCH).inlined_graph,
    "frozen": frozen,
    "symbolic": lambda model: torch.fx.symbolic_trace(model).graph,
    "exported": lambda model: torch.export.export(model, (BATCH,)).graph,
    "strict": lambda model: torch.export.export(model, (BATCH,), strict=True).graph,
    "ahead": ahead,
}


def main(way: str) -> None:
    torch.manual_seed(5)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for step in range(1, 15):
        loss = torch.nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.randint(3, (4,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # New at even steps; an evaluation's forward is the call that a census may come at.
        graph = WAYS[way](Classifier().train(step % 4 > 0)) if step % 2 else ""
        print(step, f"{loss.item():.7f}", re.sub(r"#.*|0x\w+|\"/.*?\"", "", str(graph)).split())


main(sys.argv[1])
