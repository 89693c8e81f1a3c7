"""Graphs that overflow the C stack when too much of them was looked at. Arguments: a scene's name, how many censuses.

Censuses are taken by hand between equal parts of the work; 0 is the program without Tenure.
"""

import gc
import sys
import threading

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

scene, num_censuses = sys.argv[1], int(sys.argv[2])
gc.freeze()  # the censuses are of graphs, not of what the imports have left
taken = 0
noted = 0


def look():
    global taken, noted
    if taken < num_censuses:
        from tenure.capture.heap.census import take_census

        census = take_census(step=taken, moment="step-end")
        noted += any("deeper than can be walked" in note for note in census.notes)
        taken += 1


def in_small_thread(work):
    threading.stack_size(256 * 1024)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def grow(length, censuses):
    x = torch.ones(1, requires_grad=True)
    total = torch.zeros(1)
    every = length // max(1, censuses)
    for number in range(length):
        total = total + x
        if number % every == every - 1:
            look()
    return x, total


def long_sum():
    x, total = grow(300_000, num_censuses)
    value = total.item()
    del total
    print("freed a sum of", value, x.grad)


def backward():
    for kept in (False, True):
        x, total = grow(100_000, num_censuses // 2)
        total.backward(retain_graph=kept)
        look()
        print("gradient", x.grad.item())
        del total


def deep_model(num_layers):
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, num_layers)

    def train():
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for number in range(4):
            loss = model(torch.ones(2, 3, 16)).square().mean()
            look()
            if number % 2:
                loss.backward()
                optimizer.step()
            optimizer.zero_grad()
            look()
            del loss

    in_small_thread(train)
    print("trained", num_layers)


def walked_outside_freed_inside():
    """The graph is made and seen while no thread with a small stack exists, and freed by one."""
    held = [nn.Sequential(*[nn.Linear(8, 8) for _ in range(100)])(torch.ones(1, 8)) for _ in range(3)]
    look()

    def free():
        look()
        held.pop()
        look()

    in_small_thread(free)
    in_small_thread(held.clear)
    print("freed in the thread", len(held))


def recurrent():
    torch.manual_seed(0)
    cell = nn.GRUCell(8, 8)
    state = torch.zeros(1, 8)
    for number in range(6_000):
        state = cell(torch.ones(1, 8), state)
        if number % (6_000 // max(1, num_censuses)) == 0:
            look()
    print("state", state.sum().item())
    del state
    look()


def many_small():
    weight = nn.Parameter(torch.ones(4))
    kept = []
    for number in range(20_000):
        kept.append(((weight * number).relu() + 1).sum())
        if number % (20_000 // max(1, num_censuses)) == 0:
            look()
    print("kept", len(kept))
    sum(kept[:100]).backward()
    del kept
    look()


def joined_late():
    """Many walked graphs of modest size become one: each was within its budget, the whole is not."""
    x = torch.ones(1, requires_grad=True)
    parts = []
    for _ in range(12):
        part = x
        for _ in range(8_000):
            part = part + 1
        parts.append(part)
        look()
    chain = torch.zeros(1)
    for part in parts:
        chain = checkpoint(torch.add, chain, part, use_reentrant=False)
        look()
    print("joined", chain.item())
    del part, parts
    del chain
    look()


def prolonged():
    """A chain prolonged at its root between censuses; each piece is looked at anew."""
    total = torch.ones(1, requires_grad=True)
    for _ in range(max(1, num_censuses)):
        for _ in range(90_000 // max(1, num_censuses)):
            total = total + 1
        look()
    print("prolonged", total.item())
    del total


def states_kept(order):
    """Every state of one long chain is also held from Python: as many ways into the same graph."""
    state, states = torch.ones(1, requires_grad=True), []
    for number in range(60_000):
        state = state + 1
        states.append(state)
        if number == 30_000:
            look()
    states.sort(key=lambda state: order * state.item())
    for _ in range(num_censuses - 1):
        look()
    print("states", len(states), state.item())
    del state
    while states:
        states.pop()


SCENES = {
    "states-kept": lambda: states_kept(1),
    "states-kept-reversed": lambda: states_kept(-1),
    "long-sum": long_sum,
    "backward": backward,
    "48-layers": lambda: deep_model(48),
    "100-layers": lambda: deep_model(100),
    "freed-inside": walked_outside_freed_inside,
    "recurrent": recurrent,
    "many-small": many_small,
    "joined-late": joined_late,
    "prolonged": prolonged,
}
SCENES[scene]()
print("over")
print("censuses", taken, "of", num_censuses, "cut short", noted, file=sys.stderr)
