"""torch.compile, aot_eager; prints dynamo's counters.

Arguments: model|function|method|blocks|train|scaled|step fullgraph|breaks [mode=... or backend=...].
"""

import sys

import torch
from fingerprint import print_fingerprint, seed
from torch import nn

what, graph, *options = sys.argv[1:]
whole = graph == "fullgraph"
how = {"backend": "aot_eager", **dict(option.split("=") for option in options)}
if "mode" in how:
    del how["backend"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.blocks = nn.ModuleList(nn.Linear(32, 32) for _ in range(3))
        self.last = nn.Linear(32, 4)

    def forward(self, inputs):
        hidden = self.first(inputs)
        if not whole:
            torch._dynamo.graph_break()
        for block in self.blocks:
            hidden = torch.relu(block(hidden))
        return self.last(nn.functional.dropout(hidden, 0.2))


class Root(nn.Module):
    """Eager, around a net that is compiled and called twice."""

    def __init__(self, net):
        super().__init__()
        self.before, self.net = nn.Linear(16, 16), net

    def forward(self, inputs):
        return self.net(self.before(inputs)) + self.net(inputs)


def train(model, optimizer, inputs, labels):
    loss = nn.functional.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    return loss


seed()
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", enabled=what == "scaled")
model, evaluate, step = net, net, optimizer.step
if what == "model":
    model = torch.compile(net, fullgraph=whole, **how)
elif what == "function":
    model = torch.compile(lambda inputs: net(inputs) * 2, fullgraph=whole, **how)
elif what == "method":
    net.compile(fullgraph=whole, **how)
elif what == "blocks":
    net.compile(fullgraph=whole, **how)
    model = Root(net)
elif what in ("train", "scaled"):

    @torch.compile(**how)
    def train(model, optimizer, inputs, labels):
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer) if what == "scaled" else optimizer.step()
        return loss

    step = scaler.update
else:
    step = torch.compile(optimizer.step, **how)

for number in range(14):
    loss = train(model, optimizer, torch.randn(8 if number % 5 else 4, 16), torch.randint(4, (8 if number % 5 else 4,)))
    step()
    print(loss.item())
    if number % 6 == 5:
        with torch.no_grad():
            print(evaluate(torch.randn(3, 16)).sum().item())

print_fingerprint(net, optimizers=(optimizer,))
counters = torch._dynamo.utils.counters
for name in ("stats", "frames", "graph_break", "recompiles", "recompile_limit", "unimplemented"):
    for key, value in sorted(counters[name].items()):
        print(name, " ".join(str(key).split())[:60], value)
