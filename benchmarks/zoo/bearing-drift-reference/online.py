from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch.nn import functional


@dataclass(frozen=True)
class Alarm:
    tick: int
    machine: int
    score: float


def watch(bench, model, optimizer, ticks: int, notify: Callable[[Alarm], None]) -> Iterator[float]:
    """Learn to predict the next window while listening; tell of the machine that strays most."""
    state = model.start(len(bench.speed))
    window = bench.read()
    for tick in range(ticks):
        following = bench.read()
        forecast, state, novelty = model(window, state)
        error = functional.smooth_l1_loss(forecast, following)
        optimizer.zero_grad()
        error.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        state = state.detach()
        score, machine = novelty.detach().norm(dim=1).max(0)
        if tick % 12 == 11:
            notify(Alarm(tick, machine.item(), score.item()))
        window = following
        yield error.item()
