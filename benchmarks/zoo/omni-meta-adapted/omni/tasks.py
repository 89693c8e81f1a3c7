from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Task:
    name: str
    support_x: torch.Tensor
    support_y: torch.Tensor
    query_x: torch.Tensor
    query_y: torch.Tensor


def sinusoids(count, generator, first):
    for n in range(count):
        phase = torch.rand(1, generator=generator) * 3
        x = torch.rand(20, 1, generator=generator) * 10 - 5
        y = torch.sin(x + phase)
        yield Task(f"sine-{first + n}", x[:10], y[:10], x[10:], y[10:])
