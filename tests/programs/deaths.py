"""Prints the order in which its objects die, by weak reference callbacks: by reference count and by the collector."""

import gc
import weakref

import torch
from torch import nn

watched = {}


def watch(name, item):
    watched[name] = weakref.ref(item, lambda _: print("died", name))


class Cycle:
    def __init__(self, tensor):
        self.me = self
        self.tensor = tensor


class Recorded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inputs):
        ctx.extra = torch.ones(4)
        watch("extra", ctx.extra)
        return inputs * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def batches():
    for number in range(12):
        batch = torch.full((2, 4), float(number))
        watch(f"batch {number}", batch)
        yield batch


def train(model, optimizer, batch, number):
    hidden = Recorded.apply(model(batch))
    watch(f"hidden {number}", hidden)
    other = [hidden.detach() for _ in range(1)]
    watch(f"other {number}", other[0])
    loss = hidden.sum()
    watch(f"loss {number}", loss)

    def inner():
        yield other
        yield loss

    waiting = inner()
    kept = next(waiting)
    other = None
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("stepped", number, len(kept))
    del kept
    print("let go", number)
    if number % 3 == 0:
        watch(f"cycle {number}", Cycle(torch.ones(3)))
    return loss


gc.disable()  # the collector's own moments depend on how many objects were made, ours or the program's
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for number, batch in enumerate(batches()):
    loss = train(model, optimizer, batch, number)
    watch(f"gradient {number}", model.weight.grad)
    print("end of step", number)
    if number % 5 == 4:
        print("collected", sorted(name for name, it in watched.items() if it() is not None))
        gc.collect()
print("alive", sorted(name for name, it in watched.items() if it() is not None))
del loss, batch
print("alive", sorted(name for name, it in watched.items() if it() is not None))
del model, optimizer
print("over")
