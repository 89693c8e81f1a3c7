"""Small programs as people write them, each as it leaks and once more as it does not."""

from __future__ import annotations

import pytest

from told import rules

HEAD = "import torch\nfrom torch import nn\n"
METERS = """
from collections import defaultdict
class Meter:
    def __init__(self):
        self.total = 0.0
    def update(self, value):
        self.total += value
class Logger:
    def __init__(self):
        self.meters = defaultdict(Meter)
    def update(self, **figures):
        for name, value in figures.items():
            self.meters[name].update(value)
def main(loader):
    net, logger = nn.Linear(2, 2), Logger()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in loader:
        loss = net(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logger.update(loss=loss)
"""
SETTER = """
class Progress:
    def __init__(self):
        self._loss = 0.0
    @property
    def loss(self):
        return self._loss
    @loss.setter
    def loss(self, value):
        self._loss = self._loss + value
def main(loader):
    net, progress = nn.Linear(2, 2), Progress()
    for x in loader:
        loss = net(x).mean()
        loss.backward()
        progress.loss = loss
"""
METHODS = """
class Loop:
    def __init__(self, net, loader):
        self.net, self.loader, self.total = net, loader, 0
    def fit(self, epochs):
        for _ in range(epochs):
            self.total = 0
            for x in self.loader:
                self.batch(x)
    def batch(self, x):
        self.loss = self.net(x).mean()
        self.loss.backward()
        self.track()
    def track(self):
        self.total += self.loss
def main(loader):
    Loop(nn.Linear(2, 2), loader).fit(3)
"""
MANAGER = """
from contextlib import contextmanager
class Recorder:
    def __init__(self):
        self.store = {}
    @contextmanager
    def section(self, name):
        rows = self.store.setdefault(name, [])
        yield rows
def main():
    net, recorder = nn.Linear(4, 4), Recorder()
    for _ in range(9):
        with recorder.section("hidden") as rows:
            rows.append(net(torch.randn(2, 4)))
"""
LAZY = """
class Recording:
    records = None
    def record(self, value):
        if self.records is None:
            self.records = {}
        self.records.setdefault("out", []).append(value)
class Runner(Recording):
    def __init__(self):
        self.net = nn.Linear(2, 2)
    def fit(self, loader):
        for x in loader:
            out = self.net(x)
            out.mean().backward()
            self.record(out)
def main(loader):
    Runner().fit(loader)
"""
HANDED = """
def pipeline(net, loader, on_result):
    for x in loader:
        with torch.no_grad():
            y = net(x)
        on_result(y)
class Service:
    def __init__(self, net):
        self.net, self.results = net, []
    def serve(self, loader):
        pipeline(self.net, loader, self.results.append)
    def show(self, result):
        print(result)
def main(net, loader):
    service = Service(net)
    for _ in range(5):
        service.serve(loader)
"""
CHAIN = """
from dataclasses import dataclass
@dataclass
class Node:
    hidden: torch.Tensor
    before: object = None
def main(net):
    head = None
    for _ in range(9):
        with torch.no_grad():
            hidden = net(torch.randn(2, 2))
        head = Node(hidden, before=head)
"""
CHAIN_BY_METHOD = """
class State:
    def __init__(self, place, parent=None):
        self.place, self.parent = place, parent
    def moved(self, by):
        return State(self.place + by, self)
class Walk:
    def __init__(self):
        self.state = State(torch.zeros(3))
    def run(self, steps):
        for _ in range(steps):
            self.state = self.state.moved(torch.randn(3))
"""
APPLIED = """
def watch(module):
    module.register_forward_hook(lambda m, i, o: None)
def step(net, x):
    net.apply(watch)
    return net(x).sum().item()
def main():
    net = nn.Linear(2, 2)
    for _ in range(5):
        step(net, torch.randn(2, 2))
"""
BUFFERS = """
class Mask(nn.Module):
    def forward(self, x):
        name = f"mask_{x.shape[1]}"
        if not hasattr(self, name):
            self.register_buffer(name, torch.ones(x.shape[1], x.shape[1]))
        return x @ getattr(self, name)
"""
STREAM = """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(8, 8, 3)
    def forward(self, chunk, cache):
        y = self.conv(torch.cat([cache["left"], chunk], -1))
        return y, {"left": y[..., -2:]}
def decode(encoder, chunks):
    cache, words = {"left": torch.zeros(1, 8, 2)}, []
    for chunk in chunks:
        y, cache = encoder(chunk, cache)
        words.append(y.argmax(1).tolist())
    return words
def main(chunks):
    print(decode(Encoder(), chunks))
"""
BELIEF = """
class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Linear(4, 4)
    def forward(self, belief, seen):
        return belief + self.gain(seen - belief)
class Tracker:
    def __init__(self):
        self.net, self.belief = Filter(), torch.zeros(1, 4)
    def track(self, stream):
        for seen in stream:
            self.belief = self.net(self.belief, seen)
            yield self.belief.norm().item()
def main(stream):
    print(list(Tracker().track(stream)))
"""
STATISTIC = """
_running = {"var": None}
def normalised(x):
    var = x.var(0)
    if _running["var"] is None:
        _running["var"] = var
    else:
        _running["var"] = 0.9 * _running["var"] + 0.1 * var
    return x / var.sqrt()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
    def forward(self, x):
        return normalised(self.lin(x))
def main(loader):
    net = Net()
    for x in loader:
        net(x).mean().backward()
"""
REBOUND = """
class Chain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.first = x
        ctx.states = []
        for _ in range(n):
            x = x.tanh()
            ctx.states.append(x)
        return x
"""
RING = """
def sharpness(critic, x):
    critic(x).mean().backward(create_graph=True)
    outer = sum((p.grad ** 2).sum() for p in critic.parameters())
    return float(outer)
class Critic(nn.Module):
    def forward(self, x):
        return self.body(x)
def main(loader):
    critic, learner = Critic(), nn.Linear(2, 2)
    optimizer = torch.optim.Adam(learner.parameters())
    for x in loader:
        print(sharpness(critic, x))
        optimizer.step()
        optimizer.zero_grad()
"""
WAITING = """
class Writer:
    def __init__(self):
        self.pending = []
    def scalar(self, tag, value, step):
        self.pending.append((tag, value, step))
        if step % 100 == 0:
            print(self.pending)
            self.pending.clear()
def main():
    net, writer = nn.Linear(2, 2), Writer()
    for step in range(999):
        loss = net(torch.randn(4, 2)).square().mean()
        loss.backward()
        writer.scalar("loss", loss.detach(), step)
"""
STATES = """
class State:
    def __init__(self):
        self.rows = []
    def add(self, row):
        self.rows.append(row)
class Runner:
    def __init__(self, net):
        self.net, self.state = net, State()
    @torch.no_grad()
    def evaluate(self, loader):
        pass
        for x in loader:
            self.state.add(self.net(x))
def main(loader):
    runner = Runner(nn.Linear(2, 2))
    for _ in range(5):
        runner.evaluate(loader)
"""
SHORT = """
class Miner:
    def __init__(self, most):
        self.most, self.hard = most, []
    def mine(self, x):
        at = x.norm(dim=1).argmax().item()
        self.hard.append(x[at])
        if len(self.hard) > self.most:
            self.hard.pop(0)
def main():
    miner = Miner(64)
    for _ in range(100):
        miner.mine(torch.randn(256, 64))
"""
SCALED = """
class Book:
    def __init__(self):
        self.pages = []
    def enter(self, **page):
        self.pages.append({k: v for k, v in page.items()})
def main(loader):
    net, book = nn.Linear(2, 2), Book()
    for x in loader:
        out = net(x)
        out.mean().backward()
        book.enter(out=out, step=1)
"""
ENDLESS = """
from collections import deque
class Delay:
    def __init__(self):
        self.frames = deque(maxlen=None)
    def push(self, frame):
        self.frames.append(frame)
def main():
    delay = Delay()
    for _ in range(9):
        delay.push(torch.randn(3, 8, 8))
"""
VOTES = """
class Ensemble:
    def __init__(self):
        self.net, self.votes = nn.Linear(2, 2), []
    @torch.no_grad()
    def vote(self, xs):
        self.votes += [self.net(x) for x in xs]
def main(stream):
    ensemble = Ensemble()
    for xs in stream:
        ensemble.vote(xs)
"""

SLOTS = """
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.write, self.slots = nn.Linear(8, 8), None
    def begin(self):
        self.slots = torch.zeros(4, 8)
    def forward(self, seen):
        new = torch.tanh(self.write(seen))
        self.slots = 0.9 * self.slots + 0.1 * new
        return self.slots.mean(0)
def talk(memory, optimizer, turns):
    memory.begin()
    for words in turns:
        loss = memory(words).mean()
        loss.backward(retain_graph=True)
        optimizer.step()
def main(days):
    memory = Memory()
    optimizer = torch.optim.Adam(memory.parameters())
    for turns in days:
        talk(memory, optimizer, turns)
"""
PLANT = """
class Plant:
    def __init__(self):
        self.x = torch.zeros(1, 4)
    def push(self, u):
        self.x = 0.99 * self.x + 0.1 * u
        return self.x
class Loop:
    def __init__(self):
        self.controller, self.plant = nn.Linear(4, 4), Plant()
    def run(self, steps):
        for _ in range(steps):
            print(self.plant.push(self.controller(self.plant.x)).max().item())
def main():
    Loop().run(1000)
"""
AVERAGES = """
class Average:
    def __init__(self, net):
        self.shadow = {name: p.clone() for name, p in net.named_parameters()}
    def update(self, net):
        for name, p in net.named_parameters():
            self.shadow[name] = 0.9 * self.shadow[name] + 0.1 * p
def main(loader):
    net = nn.Linear(2, 2)
    average = Average(net)
    for x in loader:
        net(x).mean().backward()
        average.update(net)
"""
OF_STATE = """
class State:
    def __init__(self):
        self.logits = None
class Trainer:
    def __init__(self, net, callbacks):
        self.net, self.callbacks, self.state = net, callbacks, State()
    def fit(self, loader):
        for x in loader:
            self.state.logits = self.net(x)
            self.state.logits.mean().backward()
            for each in self.callbacks:
                each.after(self.state)
class Watch:
    def __init__(self):
        self.rows = []
    def after(self, state):
        self.rows.append(state.logits)
def main(loader):
    Trainer(nn.Linear(2, 2), [Watch()]).fit(loader)
"""
TRAIL = """
class Particles:
    def __init__(self):
        self.at = torch.randn(9, 3)
        self.trail = [self.at]
    def update(self):
        self.at = self.at + torch.randn(9, 3)
        self.trail.append(self.at)
def main():
    particles = Particles()
    for _ in range(9):
        particles.update()
"""
PROBE = """
from contextlib import contextmanager
@contextmanager
def hidden(layers):
    seen = []
    handles = [layer.register_forward_hook(lambda m, i, o: seen.append(o.detach())) for layer in layers]
    yield seen
def probe(net, x):
    with hidden(list(net)) as seen, torch.no_grad():
        net(x)
    return len(seen)
def main(loader):
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    for x in loader:
        print(probe(net, x))
"""
HANDLES = """
class Probe:
    def __init__(self, net):
        self.handles = [m.register_forward_hook(self.see) for m in net.modules()]
    def see(self, module, args, output):
        print(output.shape)
    def remove(self):
        for handle in self.handles:
            handle.remove()
def advance(net, x):
    probe = Probe(net)
    net(x)
def main(loader):
    net = nn.Linear(8, 8)
    for x in loader:
        advance(net, x)
"""
TOKENS = """
class Session:
    def __init__(self, tokenizer):
        self.tokenizer, self.turns = tokenizer, []
    def say(self, text):
        self.turns.append(self.tokenizer(text, return_tensors="pt").input_ids)
def chat(session):
    while text := input():
        session.say(text)
"""


@pytest.mark.parametrize(
    ("text", "rule", "leaking", "mended"),
    [
        (METERS, "TN101", "update(loss=loss)", "update(loss=loss.item())"),
        (SETTER, "TN101", "progress.loss = loss", "progress.loss = loss.item()"),
        (METHODS, "TN101", "+= self.loss", "+= self.loss.item()"),
        (METHODS, "TN101", "self.loss = self.net(x).mean()", "self.loss = self.net(x).mean().detach()"),
        (MANAGER, "TN107", "append(net(torch.randn(2, 4)))", "append(net(torch.randn(2, 4)).mean().item())"),
        (LAZY, "TN107", "self.record(out)", "self.record(out.shape)"),
        (LAZY, "TN107", "out.mean().backward()", "out.mean().backward(); self.records = None"),
        (HANDED, "TN202", "self.results.append)", "self.show)"),
        (CHAIN, "TN202", "before=head", "before=None"),
        (CHAIN_BY_METHOD, "TN202", "self.place + by, self", "self.place + by"),
        (APPLIED, "TN303", "net.apply(watch)", "net.apply(print)"),
        (BUFFERS, "TN203", 'f"mask_{x.shape[1]}"', '"mask"'),
        (STREAM, "TN105", "def decode(", "@torch.no_grad()\ndef decode("),
        (STREAM, "TN105", "return words", "return words, cache"),
        (STREAM, "TN105", "y[..., -2:]", "y[..., -2:].detach()"),
        (BELIEF, "TN105", "self.net(self.belief, seen)", "self.net(self.belief, seen).detach()"),
        (STATISTIC, "TN101", "var = x.var(0)", "var = x.detach().var(0)"),
        (REBOUND, "TN103", "ctx.states.append(x)", "pass"),
        (RING, "TN104", "learner.parameters()", "critic.parameters()"),
        (RING, "TN104", "optimizer.zero_grad()", "for p in critic.parameters(): p.grad = None"),
        (WAITING, "TN201", "loss.detach()", "loss.item()"),
        (STATES, "TN202", "pass", "self.state = State()"),
        (SHORT, "TN204", "append(x[at])", "append(x[at].clone())"),
        (SCALED, "TN107", "{k: v for", '{k: float(v.mean()) if hasattr(v, "mean") else v for'),
        (ENDLESS, "TN202", "maxlen=None", "maxlen=4"),
        (VOTES, "TN202", "+= [", "= ["),
        (SLOTS, "TN105", "0.1 * new", "0.1 * new.detach()"),
        (SLOTS, "TN105", "    for words in turns:", "    for words in turns:\n        memory.begin()"),
        (PLANT, "TN105", "def run(", "@torch.no_grad()\n    def run("),
        (AVERAGES, "TN105", "0.1 * p", "0.1 * p.detach()"),
        (OF_STATE, "TN107", "append(state.logits)", "append(state.logits.mean().item())"),
        (TRAIL, "TN202", "self.trail.append(self.at)", "self.trail[0] = self.at"),
        (PROBE, "TN303", "    yield seen", "    yield seen\n    for handle in handles:\n        handle.remove()"),
        (HANDLES, "TN303", "    net(x)\n", "    net(x)\n    probe.remove()\n"),
        (TOKENS, "TN202", ', return_tensors="pt"', ""),
    ],
)
def test_a_leak_is_told_and_its_mend_is_not(text: str, rule: str, leaking: str, mended: str) -> None:
    assert text.count(leaking) == 1
    assert rule in rules(HEAD + text)
    assert rules(HEAD + text.replace(leaking, mended)) == []


@pytest.mark.parametrize(
    ("imported", "put"),
    [
        ("from stats import ROWS", "ROWS.append"),
        ("from stats import ROWS as bag", "bag.append"),
        ("import stats", "stats.ROWS.append"),
    ],
)
def test_a_list_of_another_file_lives_on(imported: str, put: str) -> None:
    text = f"{HEAD}{imported}\nnet = nn.Linear(2, 2)\n"
    text += f"def step(x):\n    y = net(x)\n    {put}(y.detach())\n    return y.mean()\n"
    text += "def main(loader):\n    for x in loader:\n        step(x).backward()\n"

    assert rules(text, stats="ROWS = []\n") == ["TN202"]
    assert rules(text, stats="ROWS = []\ndef flush():\n    ROWS.clear()\n") == []


def test_a_method_named_as_one_of_tensors_is_not_meant_where_a_tensor_has_it() -> None:
    text = f"""{HEAD}
class Probe:
    def detach(self):
        return self.net(self.x)
class Log:
    def __init__(self):
        self.rows = []
    def add(self, x):
        self.rows.append(x.detach())
def main(net):
    log = Log()
    for _ in range(9):
        log.add(torch.randn(2, 2))
"""
    assert rules(text) == ["TN202"]
