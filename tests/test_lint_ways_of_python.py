"""Small programs in which a value arrives or is kept in ways of Python's own: patterns, getters, closures, generators,
classes that are containers; each as it leaks and once more as it does not."""

from __future__ import annotations

import pytest

from tenure.lint import lint_sources
from tenure.model.source import SourceFile
from told import rules

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"

MATCH_EVENTS = """
class Stats:
    def __init__(self):
        self.total = 0.0
    def on(self, event):
        match event:
            case ("loss", value):
                self.total += value
            case ("epoch", _):
                print("epoch")
def main(loader):
    net, stats = nn.Linear(4, 1), Stats()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x, y in loader:
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        stats.on(("loss", loss))
"""

MATCH_CLASS = """
from dataclasses import dataclass
@dataclass
class Output:
    logits: torch.Tensor
    loss: torch.Tensor
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 3)
    def forward(self, x, y):
        logits = self.body(x)
        return Output(logits, F.cross_entropy(logits, y))
class Predictions:
    def __init__(self):
        self.rows = []
    def take(self, output):
        match output:
            case Output(logits=logits):
                self.rows.append(logits)
def fit(loader, predictions):
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in loader:
        output = net(x, y)
        optimizer.zero_grad()
        output.loss.backward()
        optimizer.step()
        predictions.take(output)
def main(loader):
    predictions = Predictions()
    fit(loader, predictions)
"""

ITEMGETTER = """
from operator import itemgetter
get = itemgetter("loss")
history = []
def train(net, loader, optimizer):
    for x, y in loader:
        pred = net(x)
        result = {"loss": F.mse_loss(pred, y), "pred": pred}
        optimizer.zero_grad()
        result["loss"].backward()
        optimizer.step()
        history.append(get(result))
def main(loader):
    net = nn.Linear(3, 1)
    train(net, loader, torch.optim.SGD(net.parameters(), 0.1))
"""

ATTRGETTER = """
from operator import attrgetter
from types import SimpleNamespace
class Collector:
    fields = attrgetter("hidden")
    def __init__(self):
        self.states = []
    def collect(self, out):
        self.states.append(attrgetter("hidden")(out))
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.Linear(8, 8), nn.Linear(8, 2)
    def forward(self, x):
        hidden = self.rnn(x).tanh()
        return SimpleNamespace(hidden=hidden, logits=self.head(hidden))
def run(model, collector, loader):
    optimizer = torch.optim.AdamW(model.parameters())
    for x, y in loader:
        out = model(x)
        F.cross_entropy(out.logits, y).backward()
        optimizer.step()
        optimizer.zero_grad()
        collector.collect(out)
def main(loader):
    run(Model(), Collector(), loader)
"""

USERLIST = """
from collections import UserList
class Frames(UserList):
    def mean(self):
        return torch.stack(list(self)).mean(0)
class Runner:
    def __init__(self):
        self.frames = Frames()
        self.net = nn.Conv2d(3, 3, 3)
    @torch.no_grad()
    def see(self, frame):
        self.frames.append(self.net(frame))
    def stream(self, camera):
        for frame in camera:
            self.see(frame)
def main(camera):
    Runner().stream(camera)
"""

CLOSURES = """
callbacks = []
def later(value):
    def show():
        print(float(value))
    return show
def main(loader):
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in loader:
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        callbacks.append(later(loss))
"""

LAMBDAS = """
class Report:
    def __init__(self):
        self.lines = []
    def add(self, line):
        self.lines.append(line)
    def show(self):
        for line in self.lines:
            print(line())
def main(loader):
    net, report = nn.Linear(4, 4), Report()
    for step, x in enumerate(loader):
        out = net(x)
        out.mean().backward()
        report.add(lambda out=out, step=step: f"{step} {out.norm():.3f}")
    report.show()
"""

MAP_CARRIER = """
class Tally:
    def __init__(self):
        self.rows = []
    def extend(self, values):
        self.rows.extend(values)
def main(loader):
    net, tally = nn.Linear(4, 4), Tally()
    for xs in loader:
        losses = list(map(lambda x: net(x).mean(), xs))
        torch.stack(losses).sum().backward()
        tally.extend(losses)
"""

CONTEXTVAR = """
from contextvars import ContextVar
running = ContextVar("running", default=0.0)
def account(loss):
    running.set(running.get() + loss)
def main(loader):
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x, y in loader:
        loss = F.l1_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        account(loss)
    print(running.get())
"""

SETATTR_TOTAL = """
class Totals:
    pass
def add(totals, **named):
    for name, value in named.items():
        setattr(totals, name, getattr(totals, name, 0) + value)
def main(loader):
    net, totals = nn.Linear(4, 2), Totals()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        add(totals, loss=loss)
"""

CHAINMAP = """
from collections import ChainMap
class Scope:
    def __init__(self):
        self.values = ChainMap()
    def enter(self, **values):
        self.values = self.values.new_child(values)
def main(loader):
    net, scope = nn.Linear(4, 4), Scope()
    for x in loader:
        out = net(x)
        out.mean().backward()
        scope.enter(out=out)
"""

EMA_PARAMS = """
class EMA:
    def __init__(self, net, decay=0.99):
        self.decay = decay
        self.shadow = [p.detach().clone() for p in net.parameters()]
    def update(self, net):
        self.shadow = [self.decay * s + (1 - self.decay) * p for s, p in zip(self.shadow, net.parameters())]
def main(loader):
    net = nn.Linear(2, 2)
    ema = EMA(net)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in loader:
        loss = net(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(net)
"""

RNN_TUPLE = """
class CharRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(8, 16), nn.Linear(16, 8)
    def forward(self, x, hc):
        y, hc = self.lstm(x, hc)
        return self.out(y), hc
def train(net, text):
    optimizer = torch.optim.Adam(net.parameters())
    h, c = torch.zeros(1, 4, 16), torch.zeros(1, 4, 16)
    for x, y in text:
        out, (h, c) = net(x, (h, c))
        loss = F.cross_entropy(out.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
def main(text):
    train(CharRNN(), text)
"""

SEND_GENERATOR = """
def smoother(beta):
    level = None
    while True:
        value = yield level
        level = value if level is None else beta * level + (1 - beta) * value
class Watch:
    def __init__(self):
        self.smooth = smoother(0.9)
        next(self.smooth)
    def see(self, value):
        return self.smooth.send(value)
def main(loader):
    net, watch = nn.Linear(2, 1), Watch()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in loader:
        loss = net(x).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(float(watch.see(loss)))
"""

GATHER_EXC = """
import asyncio
class Server:
    def __init__(self, net):
        self.net, self.failed = net, []
    async def answer(self, x):
        y = self.net(x)
        if y.max() > 3:
            raise RuntimeError("too large")
        return y.argmax().item()
    async def serve(self, requests):
        done = await asyncio.gather(*(self.answer(x) for x in requests), return_exceptions=True)
        self.failed += [each for each in done if isinstance(each, Exception)]
        return done
async def main(batches):
    server = Server(nn.Linear(4, 4))
    for requests in batches:
        await server.serve(requests)
"""

EPISODE_BUFFER = """
from dataclasses import dataclass
@dataclass
class Transition:
    state: torch.Tensor
    value: torch.Tensor
    reward: float
class Buffer:
    def __init__(self, capacity):
        self.capacity, self.items, self.at = capacity, [None] * capacity, 0
    def add(self, item):
        self.items[self.at % self.capacity] = item
        self.at += 1
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = nn.Linear(4, 1)
    def forward(self, s):
        return self.v(s)
def main(env):
    critic, buffer = Critic(), Buffer(10000)
    s = env.reset()
    for _ in range(100000):
        value = critic(s)
        s, r = env.step(0)
        buffer.add(Transition(s, value, r))
"""

EARLY_STOP = """
class Best:
    def __init__(self):
        self.loss = None
        self.outputs = None
    def offer(self, loss, outputs):
        if self.loss is None or loss < self.loss:
            self.loss, self.outputs = loss, outputs
def main(loader):
    net, best = nn.Linear(4, 4), Best()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x, y in loader:
        outputs = net(x)
        loss = F.mse_loss(outputs, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        best.offer(loss, outputs)
"""

DISTILL_CACHE = """
class Teacher:
    def __init__(self, net):
        self.net, self._logits = net.eval(), {}
    def logits(self, number, x):
        if number not in self._logits:
            self._logits[number] = self.net(x)
        return self._logits[number].detach()
def main(loader):
    teacher, student = Teacher(nn.Linear(4, 3)), nn.Linear(4, 3)
    optimizer = torch.optim.Adam(student.parameters())
    for _ in range(5):
        for number, (x, y) in enumerate(loader):
            loss = F.kl_div(student(x).log_softmax(1), teacher.logits(number, x).softmax(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""

POSENC_KEY = """
_TABLES = {}
def encoding(x, width):
    key = (x.size(0), x.size(1), width)
    try:
        return _TABLES[key]
    except KeyError:
        pass
    at = torch.arange(x.size(1))[:, None] / 10000 ** (torch.arange(width)[None] / width)
    _TABLES[key] = at.sin()
    return _TABLES[key]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 2)
    def forward(self, x):
        return self.out(x + encoding(x, 8))
def main(loader):
    net = Net()
    for x in loader:
        net(x).mean().backward()
"""


@pytest.mark.parametrize(
    ("text", "rule", "leaking", "mended"),
    [
        (MATCH_EVENTS, "TN101", '("loss", loss))', '("loss", loss.item()))'),
        (MATCH_CLASS, "TN107", "append(logits)", "append(logits.argmax(-1).tolist())"),
        (ITEMGETTER, "TN107", "append(get(result))", "append(get(result).item())"),
        (ATTRGETTER, "TN107", "(out))", "(out).detach().mean().item())"),
        (USERLIST, "TN202", "append(self.net(frame))", "append(self.net(frame).mean().item())"),
        (CLOSURES, "TN101", "later(loss)", "later(loss.item())"),
        (LAMBDAS, "TN107", "out=out, step", "out=out.detach().norm().item(), step"),
        (MAP_CARRIER, "TN107", "tally.extend(losses)", "tally.extend([l.item() for l in losses])"),
        (CONTEXTVAR, "TN101", "account(loss)\n    print", "account(float(loss))\n    print"),
        (SETATTR_TOTAL, "TN101", "loss=loss", "loss=loss.item()"),
        (CHAINMAP, "TN107", "enter(out=out)", "enter(out=out.mean().item())"),
        (EMA_PARAMS, "TN105", "* p for", "* p.detach() for"),
        (RNN_TUPLE, "TN105", "(h, c) = net(x, (h, c))", "(h, c) = net(x, (h.detach(), c.detach()))"),
        (SEND_GENERATOR, "TN101", "watch.see(loss)", "watch.see(loss.item())"),
        (GATHER_EXC, "TN302", "[each for each in done", "[str(each) for each in done"),
        (EPISODE_BUFFER, "TN107", "Transition(s, value, r)", "Transition(s, value.detach(), r)"),
        (EARLY_STOP, "TN101", "best.offer(loss, outputs)", "best.offer(loss.item(), outputs.detach())"),
        (DISTILL_CACHE, "TN107", "self._logits[number] = self.net(x)", "self._logits[0] = 0"),
        (POSENC_KEY, "TN203", "key = (x.size(0), x.size(1), width)", "key = width"),
    ],
)
def test_a_leak_is_told_and_its_mend_is_not(text: str, rule: str, leaking: str, mended: str) -> None:
    assert text.count(leaking) == 1
    assert rule in rules(HEAD + text)
    assert rules(HEAD + text.replace(leaking, mended)) == []


def test_a_function_is_found_by_the_name_that_its_file_has_where_it_is_called() -> None:
    text = f"""{HEAD}
from . import tables as known
class Net(nn.Module):
    def forward(self, x):
        return x @ known.mask(x.shape[1])
"""
    tables = f"""{HEAD}
_MASKS = {{}}
def mask(n):
    if n not in _MASKS:
        _MASKS[n] = torch.ones(n, n)
    return _MASKS[n]
"""
    findings, _ = lint_sources([SourceFile("net.py", text), SourceFile("tables.py", tables)])

    assert [(each.file, each.rule) for each in findings] == [("tables.py", "TN203")]


def test_a_table_that_a_decorator_gives_its_wrapper_lives_on() -> None:
    text = f"""{HEAD}
def once(function):
    def wrapper(*key):
        if key not in wrapper.known:
            wrapper.known[key] = function(*key)
        return wrapper.known[key]
    wrapper.known = {{}}
    return wrapper
@once
def grid(height, width):
    return torch.ones(height, width)
def main(pictures):
    for x in pictures:
        print((x * grid(*x.shape)).sum().item())
"""
    assert rules(text) == ["TN203"]
    assert rules(text.replace("return wrapper.known[key]", "return wrapper.known.pop(key)")) == []


def test_what_a_generator_yields_is_not_what_it_is_sent() -> None:
    text = f"""{HEAD}
def scorer(net):
    scores = None
    while True:
        x = yield scores
        scores = net(x)
def main(stream):
    running = scorer(nn.Linear(2, 2))
    next(running)
    for x in stream:
        print(running.send(x).mean().item())
"""
    assert rules(text) == []


def test_a_table_of_deques_with_a_length_is_bounded() -> None:
    text = f"""{HEAD}
from collections import defaultdict, deque
from functools import partial
class History:
    def __init__(self):
        self.rows = defaultdict(partial(deque, maxlen=8))
    def note(self, name, row):
        self.rows[name].append(row)
def main(loader):
    history = History()
    for name, x in loader:
        history.note(name, torch.relu(x))
"""
    assert rules(text) == []
    assert rules(text.replace(", maxlen=8", "")) == ["TN202"]


def test_a_cache_that_the_program_clears_is_not_told() -> None:
    text = f"""{HEAD}
import functools
@functools.cache
def powers(n):
    return torch.eye(n) * 2
def main(sizes):
    for n in sizes:
        print(powers(n).sum().item())
    powers.cache_clear()
"""
    assert rules(text) == []
    assert rules(text.replace("    powers.cache_clear()\n", "")) == ["TN205"]


def test_keys_and_values_that_a_table_is_given_beside_each_other_are_followed() -> None:
    text = f"""{HEAD}
class Embeddings:
    def __init__(self, net):
        self.net, self.known = net, {{}}
    @torch.inference_mode()
    def of(self, words):
        missing = [each for each in words if each not in self.known]
        self.known.update(zip(missing, self.net(torch.tensor([len(each) for each in missing]))))
        return torch.stack([self.known[each] for each in words])
def main(stream):
    store = Embeddings(nn.Embedding(100, 8))
    for words in stream:
        print(store.of(words).norm().item())
"""
    assert rules(text) == ["TN203"]
    assert rules(text.replace("self.known.update(", "self.known = dict(")) == []


def test_a_table_that_a_function_makes_when_it_has_none_lives_on() -> None:
    text = f"""{HEAD}
def basis(graph):
    if not hasattr(basis, "known"):
        basis.known = {{}}
    if graph.id not in basis.known:
        basis.known[graph.id] = torch.relu(graph.laplacian)
    return basis.known[graph.id]
def main(graphs):
    for graph in graphs:
        print(basis(graph).sum().item())
"""
    assert rules(text) == ["TN203"]
    assert rules(text.replace('if not hasattr(basis, "known"):', "if True:")) == []


def test_a_hook_of_the_state_dict_piles_up_as_others_do() -> None:
    text = f"""{HEAD}
class Saver:
    def __init__(self, net):
        self.net = net
    def save(self, path):
        self.net.register_state_dict_pre_hook(lambda module, prefix, kept: module.eval())
        torch.save(self.net.state_dict(), path)
def main(net, loader):
    saver = Saver(net)
    for epoch in range(100):
        saver.save(f"{{epoch}}.pt")
"""
    assert rules(text) == ["TN303"]
    assert rules(text.replace("self.net.register_state_dict_pre_hook(lambda", "print(lambda")) == []
