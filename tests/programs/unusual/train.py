"""What programs may do, though few do: everything here prints what it notices of others."""

from __future__ import annotations

import hashlib
import sys
import warnings
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


class Calls(TorchFunctionMode):
    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        print("calls", getattr(function, "__name__", function))
        return function(*args, **(kwargs or {}))


class Operations(TorchDispatchMode):
    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        print("operation", function)
        return function(*args, **(kwargs or {}))


class Tree(nn.Module):
    """Calls itself, as deep as the tree goes."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, depth: int) -> torch.Tensor:
        here = self.layer(torch.ones(1, 4))
        return here if depth == 0 else torch.tanh(here + self(depth - 1))

    def parameters(self, recurse: bool = True) -> Any:
        print("parameters asked")
        return super().parameters(recurse)


class Parts(nn.Module):
    """Gives back parts whose common base was changed since."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, batch: torch.Tensor) -> Any:
        whole = self.layer(batch)
        first, second = whole.unbind(0)
        with torch.no_grad():
            whole.mul_(2)
        return first, second, whole


torch.manual_seed(0)
tree, parts = Tree(), Parts()
optimizer = torch.optim.SGD([*tree.layer.parameters(), *parts.parameters()], lr=0.1)
for step in range(12):
    optimizer.zero_grad()
    warnings.warn("said once", stacklevel=1)
    with Calls():
        loss = parts(torch.ones(2, 3))[2].sigmoid().prod(1).mean()
    with Operations():
        loss = loss + parts.layer(torch.ones(2, 3)).sum()
    (loss + tree(225 if step % 2 else 9).sum()).backward()
    optimizer.step()
    learnt = hashlib.sha256(parts.layer.weight.detach().numpy().tobytes()).hexdigest()[:12]
    print(step, float(loss.detach()).hex(), learnt)

hidden = torch.ones(1, 3)
for _ in range(50_000):  # a chain that only autograd's own way of freeing it survives
    hidden = parts.layer(hidden)
hidden.sum().backward()
del hidden
print("resource" in sys.modules)
