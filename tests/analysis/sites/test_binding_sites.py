"""Each case is a small program; comments `# site RANK FUNCTION` mark the statements that must be found, in order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from textwrap import dedent

import pytest

from tenure.analysis.sites.binding_sites import is_unambiguous, name_that_stores, resolve_sites
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference

MARK = re.compile(r"#\s*site (\d+) (\S+)")


@dataclass(frozen=True)
class Case:
    name: str
    reference: HoldingReference
    files: dict[str, str]
    growing: bool = False
    certain: bool = True
    hints: tuple[SourceLocation, ...] = field(default=())


def sources_of(files: dict[str, str]) -> dict[str, SourceFile]:
    return {
        path: SourceFile(path, dedent(text), "library" if path.startswith("lib/") else "yours")
        for path, text in files.items()
    }


def marked(sources: dict[str, SourceFile]) -> list[tuple[str, int, str]]:
    found = []
    for path, source in sources.items():
        for number, line in enumerate(source.text.splitlines(), start=1):
            if mark := MARK.search(line):
                found.append((int(mark[1]), path, number, mark[2]))
    return [(path, number, function) for _, path, number, function in sorted(found)]


def local(name: str, function: str, line: int = 0, *, element: bool = False, **more: str) -> HoldingReference:
    return HoldingReference(
        "local", name, more.get("expression", name), scope_file="train.py", scope_function=function,
        scope_line=line, element=element, container_type=more.get("container_type", ""),
    )  # fmt: skip


def attribute(
    name: str, owner_type: str, *, element: bool = False, expression: str = "", kind: str = "attribute"
) -> HoldingReference:
    return HoldingReference(kind, name, expression or f"x.{name}", owner_type=owner_type, element=element)


def other(kind: str, name: str, function: str = "", *, element: bool = False, line: int = 0) -> HoldingReference:
    return HoldingReference(
        kind, name, name, scope_file="train.py", scope_function=function, scope_line=line, element=element
    )


CASES = [
    Case(
        "a slot is filled where something is put into it, not where None is",
        attribute("_slots", "feed.PingPong", element=True, expression="feed._slots[*]"),
        {
            "feed.py": """\
            class PingPong:
                def __init__(self):
                    self._slots = [None, None]  # site 2 PingPong.__init__

                def fill(self, slot):
                    arrays = self.read()
                    if arrays is None:
                        self._slots[slot] = None
                        return
                    self._slots[slot] = Batch(*arrays)  # site 1 PingPong.fill
            """
        },
    ),
    Case(
        "a list that setdefault makes under a key is filled where that key is appended to",
        HoldingReference(
            "item",
            "state[<Parameter>]['steps']",
            "optimizer.state[<Parameter>]['steps'][*]",
            owner_type="own.Descent",
            element=True,
            container_type="list",
        ),
        {
            "own.py": """\
            from torch.optim import Optimizer

            class Descent(Optimizer):
                def remember(self, state, direction):
                    state["steps"].append(direction)  # site 1 Descent.remember

                def step(self):
                    for param in self.param_groups[0]["params"]:
                        state = self.state[param]
                        state.setdefault("steps", [])
                        self.remember(state, param.grad.clone())
            """
        },
        growing=True,
    ),
    Case(
        "what grows was not made by the getter that begins with zeros",
        attribute("_state", "flow.Flow", expression="module._state"),
        {
            "flow.py": """\
            import torch

            class Flow:
                @property
                def state(self):
                    if self._state is None:
                        self._state = torch.zeros(self.lines, 8)  # site 2 Flow.state
                    return self._state

                @state.setter
                def state(self, value):
                    self._state = value  # site 1 Flow.state
            """
        },
        growing=True,
    ),
    Case(
        "an attribute of ctx that a helper sets is found where the Function hands it over",
        attribute("weights", "attention.BowedBackward", expression="BowedBackward.weights"),
        {
            "attention.py": """\
            import torch

            def stash(ctx, **values):
                for name, value in values.items():
                    setattr(ctx, name, value)

            class Bowed(torch.autograd.Function):
                @staticmethod
                def forward(ctx, query, key):
                    weights = (query @ key).softmax(-1)
                    stash(ctx, key=key, weights=weights)  # site 1 Bowed.forward
                    return weights @ key

                @staticmethod
                def backward(ctx, grad):
                    return ctx.weights * grad, None

            def show(ctx, weights):
                draw(ctx, weights=weights)
            """
        },
    ),
    Case(
        "of two branches the one that keeps more than a number",
        local("total", "train", 3),
        {
            "train.py": """\
            def train(model, loader, exact):
                total = 0.0
                for batch in loader:
                    loss = model(batch)
                    if exact:
                        total = total + loss  # site 1 train
                    else:
                        total += loss.item()  # site 2 train
            """
        },
        growing=True,
    ),
    Case(
        "a local rebound each iteration",
        local("retval", "train", 4),
        {
            "train.py": """\
            def train(model, loader):
                retval = None
                for batch in loader:
                    out = model(batch)
                    retval = model.loss(out)  # site 1 train
                    retval.backward()
            """
        },
    ),
    Case(
        "the definition before the line hides earlier ones",
        local("loss", "train", 4),
        {
            "train.py": """\
            def train(a, b):
                loss = a()  # site 2 train
                loss = b()  # site 1 train
                loss.backward()
            """
        },
    ),
    Case(
        "both branches of an if may have bound it",
        local("out", "f", 6),
        {
            "train.py": """\
            def f(a, b):
                if a:
                    out = a()  # site 1 f
                else:
                    out = b()  # site 2 f
                run()
            """
        },
        certain=False,
    ),
    Case(
        "a deleted name is bound again by the loop",
        local("x", "f", 6),
        {
            "train.py": """\
            def f(a):
                x = a(0)  # site 2 f
                del x
                while a:
                    x = a(1)  # site 1 f
                    a.step()
            """
        },
    ),
    Case(
        "a running total by augmented assignment",
        local("total", "epoch", 4),
        {
            "train.py": """\
            def epoch(loader):
                total = 0.0
                for loss in loader:
                    total += loss  # site 1 epoch
                return total
            """
        },
        growing=True,
    ),
    Case(
        "a running total that names itself",
        local("total", "epoch", 4),
        {
            "train.py": """\
            def epoch(model, loader):
                total = model.zero()  # site 2 epoch
                for loss in loader:
                    total = total + loss  # site 1 epoch
            """
        },
        growing=True,
    ),
    Case(
        "a hidden state carried from step to step",
        local("hidden", "epoch", 4),
        {
            "train.py": """\
            def epoch(rnn, loader, hidden):  # site 2 epoch
                for x in loader:
                    out = rnn.norm(x)
                    out, hidden = rnn(x, hidden)  # site 1 epoch
            """
        },
        growing=True,
    ),
    Case(
        "a part of an element is not the table, the statement that adds an element comes first",
        attribute("handlers", "train.Engine", element=True),
        {
            "train.py": """\
            class Engine:
                def fire(self):
                    for function, options in self.handlers:
                        options.update(now=1)  # site 2 Engine.fire

                def add(self, function):
                    self.handlers.append((function, {}))  # site 1 Engine.add
            """
        },
        growing=True,
    ),
    Case(
        "starred unpacking",
        local("rest", "f", 3),
        {
            "train.py": """\
            def f(model, x):
                first, *rest = model(x)  # site 1 f
                run()
            """
        },
    ),
    Case(
        "a walrus in a while test",
        local("batch", "f", 3),
        {
            "train.py": """\
            def f(q):
                while (batch := q.get()) is not None:  # site 1 f
                    run(1)
            """
        },
    ),
    Case(
        "a walrus inside a comprehension binds in the function",
        local("last", "f", 3),
        {
            "train.py": """\
            def f(q):
                [last := item for item in q]  # site 1 f
                run()
            """
        },
    ),
    Case(
        "with binds its target",
        local("store", "f", 3),
        {
            "train.py": """\
            def f(q):
                with open_store(q) as store:  # site 1 f
                    run()
            """
        },
    ),
    Case(
        "a for target",
        local("batch", "f", 3),
        {
            "train.py": """\
            def f(loader):
                for i, batch in enumerate(loader):  # site 1 f
                    step()
            """
        },
    ),
    Case(
        "the exception of a handler",
        local("error", "f", 5),
        {
            "train.py": """\
            def f(step):
                try:
                    step()
                except RuntimeError as error:  # site 1 f
                    retry()
            """
        },
    ),
    Case(
        "what try bound is seen in finally",
        local("out", "f", 7),
        {
            "train.py": """\
            def f(model):
                try:
                    out = model()  # site 1 f
                except ValueError:
                    out = None
                finally:
                    run()
            """
        },
    ),
    Case(
        "a capture of a match statement",
        local("loss", "f", 4),
        {
            "train.py": """\
            def f(out):
                match out:
                    case {"loss": loss}:  # site 1 f
                        run()
            """
        },
    ),
    Case(
        "an async function",
        local("out", "serve", 4),
        {
            "train.py": """\
            async def serve(model, queue):
                async for request in queue:
                    out = await model(request)  # site 1 serve
                    await send()
            """
        },
    ),
    Case(
        "a parameter nobody rebinds",
        local("batch", "step", 2),
        {
            "train.py": """\
            def step(batch):  # site 1 step
                run()
            """
        },
    ),
    Case(
        "a decorated method, known by its plain name as on Python 3.10",
        local("out", "step", 5),
        {
            "train.py": """\
            class Trainer:
                @no_grad()
                def step(self, model):
                    out = model()  # site 1 Trainer.step
                    run()
            """
        },
    ),
    Case(
        "a suspended generator's local",
        local("batch", "batches", 4),
        {
            "train.py": """\
            def batches(loader):
                for item in loader:
                    batch = item.cuda()  # site 1 batches
                    yield item
            """
        },
    ),
    Case(
        "append to a local list",
        local("losses", "train", 4, element=True),
        {
            "train.py": """\
            def train(loader):
                losses = []
                for x in loader:
                    losses.append(x.loss)  # site 1 train
            """
        },
        growing=True,
    ),
    Case(
        "append to a module's list from the top level",
        other("global", "losses", "<module>", element=True, line=3),
        {
            "train.py": """\
            losses = []
            for x in range(10):
                losses.append(step(x))  # site 1 <module>
            """
        },
        growing=True,
    ),
    Case(
        "list plus-equals",
        local("outs", "f", 3, element=True),
        {
            "train.py": """\
            def f(loader):
                outs = []
                outs += [x() for x in loader]  # site 1 f
            """
        },
        growing=True,
    ),
    Case(
        "setdefault then append",
        local("table", "f", 4, element=True),
        {
            "train.py": """\
            def f(loader):
                table = {}
                for x in loader:
                    table.setdefault(x.key, []).append(x.loss)  # site 1 f
            """
        },
        growing=True,
    ),
    Case(
        "an empty group, then what goes into it",
        local("groups", "f", 5, element=True),
        {
            "train.py": """\
            def f(loader):
                groups = []
                for x in loader:
                    if x.begins:
                        groups.append([])  # site 2 f
                    groups[-1].append(x.loss)  # site 1 f
            """
        },
        growing=True,
    ),
    Case(
        "a list built by a comprehension",
        local("outs", "f", 3, element=True),
        {
            "train.py": """\
            def f(loader, model):
                outs = [model(x) for x in loader]  # site 1 f
                run()
            """
        },
    ),
    Case(
        "the key of a dictionary tells the statement",
        local("out", "f", 5, element=True, expression="out['loss']"),
        {
            "train.py": """\
            def f(model):
                out = {}
                out["logits"] = model.a()  # site 2 f
                out["loss"] = model.b()  # site 1 f
                run()
            """
        },
    ),
    Case(
        "through an alias of a local",
        local("history", "f", 5, element=True),
        {
            "train.py": """\
            def f(loader):
                history = []
                buf = history
                for x in loader:
                    buf.append(x)  # site 1 f
            """
        },
        growing=True,
    ),
    Case(
        "through a bound method",
        local("history", "f", 5, element=True),
        {
            "train.py": """\
            def f(loader):
                history = []
                keep = history.append
                for x in loader:
                    keep(x)  # site 1 f
            """
        },
        growing=True,
    ),
    Case(
        "through a helper in another file",
        local("history", "f", 5, element=True),
        {
            "train.py": """\
            from helpers import store
            def f(loader):
                history = []
                for x in loader:
                    store(history, x)  # site 2 f
            """,
            "helpers.py": """\
            def store(dst, x):
                dst.append(x)  # site 1 store
            """,
        },
        growing=True,
    ),
    Case(
        "through a logger object that keeps the list",
        local("history", "f", 5, element=True),
        {
            "train.py": """\
            from helpers import Logger
            def f(loader):
                history = []
                logger = Logger(history)  # site 2 f
                for x in loader:
                    logger.log(x)
            """,
            "helpers.py": """\
            class Logger:
                def __init__(self, rows):
                    self.rows = rows
                def log(self, x):
                    self.rows.append(x)  # site 1 Logger.log
            """,
        },
        growing=True,
    ),
    Case(
        "two appends cannot be told apart",
        local("losses", "f", 3, element=True),
        {
            "train.py": """\
            def f(losses, a, b):  # site 3 f
                losses.append(a)  # site 1 f
                losses.append(b)  # site 2 f
            """
        },
        growing=True,
        certain=False,
    ),
    Case(
        "a hint decides between two appends",
        local("losses", "f", 3, element=True),
        {
            "train.py": """\
            def f(losses, a, b):  # site 3 f
                losses.append(a)  # site 2 f
                losses.append(b)  # site 1 f
            """
        },
        growing=True,
        hints=(SourceLocation("train.py", 3, "f"),),
    ),
    Case(
        "an attribute's list in its own class, not in another with the same name",
        attribute("history", "__main__.Trainer", element=True),
        {
            "train.py": """\
            class Trainer:
                def __init__(self):
                    self.history = []
                def fit(self, x):
                    self.history.append(x)  # site 1 Trainer.fit
            class Other:
                def fit(self, x):
                    self.history.append(x)
            """
        },
        growing=True,
    ),
    Case(
        "the base class in another file",
        attribute("history", "train.Trainer", element=True),
        {
            "train.py": """\
            from base import BaseTrainer
            class Trainer(BaseTrainer):
                def fit(self, x):
                    self.log(x)
            """,
            "base.py": """\
            class BaseTrainer:
                def __init__(self):
                    self.history = []
                def log(self, x):
                    self.history.append(x)  # site 1 BaseTrainer.log
            class Unrelated:
                def log(self, x):
                    self.history.append(x)
            """,
        },
        growing=True,
    ),
    Case(
        "an object's list grown from outside",
        attribute("history", "model.Model", element=True, expression="model.history[*]"),
        {
            "train.py": """\
            from model import Model
            model = Model()
            for x in range(3):
                model.history.append(model(x))  # site 1 <module>
            """,
            "model.py": """\
            class Model:
                def __init__(self):
                    self.history = []
            """,
        },
        growing=True,
    ),
    Case(
        "yours before the library",
        attribute("cache", "train.Model", element=True),
        {
            "train.py": """\
            class Model:
                def forward(self, k, x):
                    self.cache[k] = x  # site 1 Model.forward
            """,
            "lib/site.py": """\
            def touch(obj, x):
                obj.cache[0] = x
            """,
        },
        growing=True,
    ),
    Case(
        "inside a library when nobody else does it",
        attribute("_seen", "site.Metric", element=True),
        {
            "train.py": """\
            from site import Metric
            m = Metric()
            """,
            "lib/site.py": """\
            class Metric:
                def update(self, x):
                    self._seen.append(x)  # site 1 Metric.update
            """,
        },
        growing=True,
    ),
    Case(
        "an attribute set to None first",
        attribute("last", "train.Model"),
        {
            "train.py": """\
            class Model:
                def __init__(self):
                    self.last = None
                def forward(self, x):
                    self.last = self.net(x)  # site 1 Model.forward
                    return self.last
            """
        },
    ),
    Case(
        "a moving average in an object",
        attribute("mean", "train.Meter"),
        {
            "train.py": """\
            class Meter:
                def __init__(self, start):
                    self.mean = start  # site 2 Meter.__init__
                def update(self, loss):
                    self.mean = 0.9 * self.mean + 0.1 * loss  # site 1 Meter.update
            """
        },
        growing=True,
    ),
    Case(
        "an augmented attribute",
        attribute("total", "train.Meter"),
        {
            "train.py": """\
            class Meter:
                def __init__(self):
                    self.total = 0
                def update(self, loss):
                    self.total += loss  # site 1 Meter.update
            """
        },
        growing=True,
    ),
    Case(
        "setattr with a constant name",
        attribute("last_loss", "train.State"),
        {
            "train.py": """\
            class State: ...
            def note(state, loss):
                setattr(state, "last_loss", loss)  # site 1 note
            """
        },
    ),
    Case(
        "a store through __dict__",
        attribute("last", "train.State"),
        {
            "train.py": """\
            class State:
                def note(self, loss):
                    self.__dict__["last"] = loss  # site 1 State.note
            """
        },
    ),
    Case(
        "a buffer is registered by name",
        attribute("mask", "train.Net"),
        {
            "train.py": """\
            class Net:
                def __init__(self, n):
                    self.register_buffer("mask", ones(n))  # site 1 Net.__init__
            """
        },
    ),
    Case(
        "a private name",
        attribute("_Trainer__kept", "train.Trainer", element=True),
        {
            "train.py": """\
            class Trainer:
                def fit(self, x):
                    self.__kept.append(x)  # site 1 Trainer.fit
            """
        },
        growing=True,
    ),
    Case(
        "through a property",
        attribute("_history", "train.Trainer", element=True),
        {
            "train.py": """\
            class Trainer:
                def __init__(self):
                    self._history = []
                @property
                def history(self):
                    return self._history
                def fit(self, x):
                    self.history.append(x)  # site 1 Trainer.fit
            """
        },
        growing=True,
    ),
    Case(
        "a cached property",
        attribute("table", "train.Net"),
        {
            "train.py": """\
            from functools import cached_property
            class Net:
                @cached_property
                def table(self):  # site 1 Net
                    return make()
            """
        },
    ),
    Case(
        "through an alias of an attribute",
        attribute("history", "train.Trainer", element=True),
        {
            "train.py": """\
            class Trainer:
                def fit(self, loader):
                    buf = self.history
                    for x in loader:
                        buf.append(x)  # site 1 Trainer.fit
            """
        },
        growing=True,
    ),
    Case(
        "not what is stored in the entry itself, through an alias of it",
        replace(attribute("checkpoint['model']", "builtins.dict"), kind="item"),
        {
            "train.py": """\
            class Session:
                def resume(self, path):
                    self.checkpoint = torch.load(path)  # site 1 Session.resume
                    state = self.checkpoint["model"]
                    for key in list(state):
                        state[key[10:]] = state.pop(key)
            """
        },
    ),
    Case(
        "a nested class",
        attribute("rows", "train.Outer.Inner", element=True),
        {
            "train.py": """\
            class Outer:
                class Inner:
                    def add(self, x):
                        self.rows.append(x)  # site 1 Outer.Inner.add
                def add(self, x):
                    self.rows.append(x)
            """
        },
        growing=True,
    ),
    Case(
        "a dataclass filled by its constructor",
        attribute("loss", "train.Step"),
        {
            "train.py": """\
            from dataclasses import dataclass
            @dataclass
            class Step:
                number: int
                loss: object  # site 2 Step
            def run(n, loss):
                return Step(n, loss=loss)  # site 1 run
            """
        },
    ),
    Case(
        "an attribute that is set by a computed name",
        attribute("sparse", "train.Feed"),
        {
            "train.py": """\
            class Feed:
                def load(self, values):
                    for name, value in zip(NAMES, values):
                        setattr(self, name, value)  # site 1 Feed.load
            class Other:
                def load(self, values):
                    for name, value in zip(NAMES, values):
                        setattr(self, name, value)
            """
        },
    ),
    Case(
        "an attribute that comes with others into an object's table",
        attribute("sparse", "train.Feed"),
        {
            "train.py": """\
            class Feed:
                def load(self, values):
                    vars(self).update(zip(NAMES, values))  # site 1 Feed.load
            """
        },
    ),
    Case(
        "a dataclass that is copied with another value",
        attribute("mean", "train.Stats"),
        {
            "train.py": """\
            from dataclasses import dataclass, replace
            @dataclass(frozen=True)
            class Stats:
                count: int = 0
                mean: object = 0.0
                def add(self, loss):
                    other = replace(self, count=self.count + 1)
                    return replace(other, mean=self.mean + loss)  # site 1 Stats.add
            """
        },
        growing=True,
    ),
    Case(
        "a dataclass filled with what a call gives",
        attribute("logits", "train.Output"),
        {
            "train.py": """\
            from dataclasses import dataclass
            @dataclass
            class Output:
                logits: object  # site 2 Output
            def forward(self, x):
                return Output(logits=self.head(x))  # site 1 forward
            """
        },
    ),
    Case(
        "a dataclass filled by a constructor of its own",
        attribute("samples", "train.Batch"),
        {
            "train.py": """\
            from dataclasses import dataclass
            @dataclass
            class Batch:
                images: object
                samples: list  # site 2 Batch
                @classmethod
                def collate(cls, samples):
                    return cls(stack(samples), samples)  # site 1 Batch.collate
            @dataclass
            class Shard:
                images: object
                samples: list
                @classmethod
                def collate(cls, samples):
                    return cls(stack(samples), samples)
            """
        },
    ),
    Case(
        "a dataclass whose own constructor makes what it is filled with",
        attribute("encoder", "train.Parts"),
        {
            "train.py": """\
            from dataclasses import dataclass
            @dataclass
            class Parts:
                encoder: object  # site 2 Parts
                @classmethod
                def load(cls, path):
                    return cls(encoder=Encoder.read("encoder.pt").eval())  # site 1 Parts.load
            """
        },
    ),
    Case(
        "a field of an object that is called ctx",
        attribute("counters", "train.StageContext", expression="ctx.counters"),
        {
            "train.py": """\
            from dataclasses import dataclass
            @dataclass
            class StageContext:
                counters: object = None
            class Decode(torch.autograd.Function):
                @staticmethod
                def forward(ctx, packed):
                    ctx.counters = packed
                    return packed
            class Pipeline:
                def start(self, ctx):
                    ctx.counters = self.decode(ctx)  # site 1 Pipeline.start
            """
        },
    ),
    Case(
        "a mutable class attribute",
        attribute("seen", "train.Net", element=True, kind="class"),
        {
            "train.py": """\
            class Net:
                seen = []
                def forward(self, x):
                    Net.seen.append(x)  # site 1 Net.forward
            """
        },
        growing=True,
    ),
    Case(
        "a tensor as class attribute",
        attribute("table", "train.Net", kind="class"),
        {
            "train.py": """\
            class Net:
                table = make_table()  # site 1 Net
            """
        },
    ),
    Case(
        "a ctx attribute",
        attribute("x", "train.SquareBackward", expression="ctx.x"),
        {
            "train.py": """\
            class Square(torch.autograd.Function):
                @staticmethod
                def forward(c, x):
                    c.x = x  # site 1 Square.forward
                    return x * x
            class Point:
                def move(self, x):
                    self.x = x
            """
        },
    ),
    Case(
        "saved tensors of a ctx",
        attribute("saved_tensors", "train.SquareBackward"),
        {
            "train.py": """\
            class Square(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.save_for_backward(x)  # site 1 Square.forward
                    return x * x
            """
        },
    ),
    Case(
        "a global set in a function",
        other("global", "LAST", "<module>"),
        {
            "train.py": """\
            LAST = None
            def step(model):
                global LAST
                LAST = model()  # site 1 step
            """
        },
    ),
    Case(
        "a global list that its own file binds by no name",
        other("global", "rows", "<module>", element=True),
        {
            "train.py": """\
            import sys
            vars(sys.modules[__name__])["rows"] = []
            def step(x):
                rows.append(x)  # site 1 step
            """
        },
        growing=True,
    ),
    Case(
        "a global list filled from another module",
        HoldingReference("global", "ROWS", "state.ROWS", scope_file="state.py", element=True),
        {
            "train.py": """\
            from state import ROWS
            def step(x):
                ROWS.append(x)  # site 1 step
            """,
            "state.py": """\
            ROWS = []
            """,
        },
        growing=True,
    ),
    Case(
        "a module attribute set from another module",
        HoldingReference("global", "CURRENT", "state.CURRENT", scope_file="state.py"),
        {
            "train.py": """\
            import state
            def step(x):
                state.CURRENT = x()  # site 1 step
            """,
            "state.py": """\
            CURRENT = None
            """,
        },
    ),
    Case(
        "a closure's list",
        other("closure", "seen", "make.<locals>.hook", element=True),
        {
            "train.py": """\
            def make(layer):
                seen = []
                def hook(m, i, o):  # site 2 make
                    seen.append(o)  # site 1 make.<locals>.hook
                layer.register_forward_hook(hook)
            """
        },
        growing=True,
    ),
    Case(
        "a closure's table of a function that goes by the name of another",
        other("closure", "table", "position_bias", element=True, line=5),
        {
            "train.py": """\
            import functools

            def reuse(fn):
                table = {}
                @functools.wraps(fn)
                def wrapper(*args):  # site 2 reuse
                    if args not in table:
                        table[args] = fn(*args)  # site 1 reuse.<locals>.wrapper
                    return table[args]
                return wrapper
            """
        },
        growing=True,
    ),
    Case(
        "a nonlocal name",
        other("closure", "last", "make.<locals>.hook"),
        {
            "train.py": """\
            def make(layer):
                last = None
                def hook(m, i, o):  # site 2 make
                    nonlocal last
                    last = o  # site 1 make.<locals>.hook
                return hook
            """
        },
    ),
    Case(
        "a lambda appends to the enclosing list",
        other("closure", "seen", "make", element=True),
        {
            "train.py": """\
            def make(layer):
                seen = []
                layer.on(
                    lambda m, i, o: seen.append(o))  # site 1 make.<locals>.<lambda>
                return seen
            """
        },
        growing=True,
    ),
    Case(
        "a mutable default",
        other("default", "cache", "step", element=True),
        {
            "train.py": """\
            def step(x, cache=[]):  # site 2 <module>
                cache.append(x)  # site 1 step
            """
        },
        growing=True,
    ),
    Case(
        "a hook by its function",
        other("hook", "save"),
        {
            "train.py": """\
            def attach(net):
                for layer in net:
                    layer.register_forward_hook(save)  # site 1 attach
            def save(m, i, o):
                m.kept = o
            """
        },
    ),
    Case(
        "a hook's closure: the append, then the registration",
        other("hook", "seen", "attach", element=True),
        {
            "train.py": """\
            def attach(layer):
                seen = []
                layer.register_forward_hook(lambda m, i, o: seen.append(o))  # site 1 attach.<locals>.<lambda>
            """
        },
        growing=True,
    ),
    Case(
        "a cached function",
        other("cache", "features"),
        {
            "train.py": """\
            import functools
            @functools.lru_cache(maxsize=None)
            def features(x):  # site 1 <module>
                return x * 2
            """
        },
    ),
    Case(
        "a method that the program's own decorator caches",
        other("cache", "planes"),
        {
            "memo.py": """\
            import functools
            def once(function):
                return functools.lru_cache(maxsize=None)(function)
            """,
            "position.py": """\
            from memo import once
            class Position:
                @once
                def planes(self):  # site 1 Position
                    return self.board
            def planes(board):
                return board
            """,
        },
    ),
    Case(
        "an exit handler",
        other("hidden", "flush"),
        {
            "train.py": """\
            import atexit
            atexit.register(flush, model)  # site 1 <module>
            """
        },
    ),
    Case(
        "a handler of forks",
        replace(other("handler", "reseed"), expression="at-fork handler Farm.reseed"),
        {
            "farm.py": """\
            import os
            class Farm:
                def guard(self):
                    os.register_at_fork(after_in_child=self.reseed)  # site 1 Farm.guard
            """
        },
    ),
    Case(
        "an exit handler's registration by the hooks of one kind",
        other("hook", "_forward_hooks"),
        {
            "train.py": """\
            net.register_forward_hook(a)  # site 1 <module>
            net.register_full_backward_hook(b)
            """
        },
    ),
    Case(
        "a hook for all modules by the function that registers one for all",
        other("hook", "_global_forward_hooks"),
        {
            "train.py": """\
            net.register_forward_hook(a)
            register_module_forward_hook(b)  # site 1 <module>
            register_module_forward_pre_hook(c)
            """
        },
    ),
    Case(
        "a method's assignment before the constructor's",
        attribute("last", "train.Net"),
        {
            "train.py": """\
            class Net:
                def __init__(self, x):
                    self.last = x  # site 2 Net.__init__
                def forward(self, x):
                    self.last = x * 2  # site 1 Net.forward
            """
        },
        certain=False,
    ),
    Case(
        "an object of another class is told by its constructor",
        attribute("rows", "train.Table", element=True),
        {
            "train.py": """\
            class Table: ...
            class Other: ...
            def run(x):
                other = Other()
                other.rows.append(x)
                table = Table()
                table.rows.append(x)  # site 1 run
            """
        },
        growing=True,
    ),
    Case(
        "through an element taken out of the container",
        attribute("state", "train.Optim", element=True),
        {
            "train.py": """\
            class Optim:
                def step(self, params):
                    for p in params:
                        state = self.state[p]
                        state["momentum"] = p.grad.clone()  # site 1 Optim.step
                        entry = self.state[p]
                        entry["average"] = p.grad.clone()  # site 2 Optim.step
            """
        },
        growing=True,
        certain=False,
    ),
    Case(
        "through a loop over the container's lists",
        attribute("tracks", "train.Log", element=True),
        {
            "train.py": """\
            class Log:
                def note(self, x):
                    for rows in self.tracks.values():
                        rows.append(x)  # site 1 Log.note
            """
        },
        growing=True,
    ),
    Case(
        "a namespace object filled by keyword",
        attribute("loss", "types.SimpleNamespace"),
        {
            "train.py": """\
            from types import SimpleNamespace
            def run(loss):
                return SimpleNamespace(loss=loss)  # site 1 run
            """
        },
    ),
    Case(
        "a link of a chain, made by a constructor in a method",
        attribute("before", "train.Link"),
        {
            "train.py": """\
            from dataclasses import dataclass
            @dataclass
            class Link:
                before: "Link | None"  # site 3 Link
            FIRST = Link(None)  # site 2 <module>
            class Trail:
                def add(self):
                    self.last = Link(self.last)  # site 1 Trail.add
            """
        },
        growing=True,
    ),
    Case(
        "a field inherited by a dataclass",
        attribute("loss", "train.Output"),
        {
            "train.py": """\
            from base import BaseOutput
            @dataclass
            class Output(BaseOutput):
                logits: object
            def run(a, b):
                return Output(a, logits=b)  # site 1 run
            """,
            "base.py": """\
            @dataclass
            class BaseOutput:
                loss: object = None
            """,
        },
    ),
    Case(
        "heap queue of a module",
        other("global", "best", "<module>", element=True),
        {
            "train.py": """\
            import heapq
            best = []
            def keep(score, model):
                heapq.heappush(best, (score, model))  # site 1 keep
            """
        },
        growing=True,
    ),
    Case(
        "a global total in a function",
        other("global", "total", "<module>"),
        {
            "train.py": """\
            total = 0
            def step(loss):
                global total
                total += loss  # site 1 step
            """
        },
        growing=True,
    ),
    Case(
        "a name of one function is not that of another",
        local("loss", "b", 5),
        {
            "train.py": """\
            def a(f):
                loss = f()
            def b(f):
                loss = f(1)  # site 1 b
                run()
            """
        },
    ),
    Case(
        "a variable of the frame inside a list comprehension belongs to the function",
        local("model", "f.<locals>.<listcomp>", 3),
        {
            "train.py": """\
            def f(make):
                model = make()  # site 1 f
                return [model(x) for x in range(3)]
            """
        },
    ),
    Case(
        "the file is known by the end of its path",
        HoldingReference("local", "x", "x", scope_file="src/train.py", scope_function="f", scope_line=3),
        {
            "/home/me/src/train.py": """\
            def f(make):
                x = make()  # site 1 f
                run()
            """
        },
    ),
    Case(
        "a base class of the same name, by import",
        attribute("rows", "train.Trainer", element=True),
        {
            "train.py": """\
            import base
            class Trainer(base.Trainer): ...
            """,
            "base.py": """\
            class Trainer:
                def log(self, x):
                    self.rows.append(x)  # site 1 Trainer.log
            """,
            "elsewhere.py": """\
            class Trainer:
                def log(self, x):
                    self.rows.append(x)
            """,
        },
        growing=True,
    ),
    Case(
        "an item of a module's dict, known by its key",
        HoldingReference(
            "item",
            "cache['out']",
            "cache['out']",
            owner_type="dict",
            scope_file="train.py",
            scope_function="<module>",
            container_type="dict",
        ),
        {
            "train.py": """\
            cache = {}
            def step(model):
                cache["out"] = model()  # site 1 step
                cache["in"] = 1  # site 2 step
            """
        },
        growing=True,
    ),
    Case(
        "an item of an attribute's dict",
        HoldingReference(
            "item",
            "cache['out']",
            "net.cache['out']",
            owner_type="dict",
            scope_file="main.py",
            scope_function="<module>",
            container_type="dict",
        ),
        {
            "main.py": """\
            from train import Net
            net = Net()
            """,
            "train.py": """\
            class Net:
                def forward(self, x):
                    self.cache["out"] = x  # site 1 Net.forward
            """,
        },
    ),
    Case(
        "an item of a dict that another class has by the same name too, beside its list",
        HoldingReference(
            "item",
            "things['judge']",
            "self.things['callbacks'][0].things['judge']",
            owner_type="dict",
            scope_file="studio.py",
            scope_function="Studio.rehearse",
            container_type="dict",
        ),
        {
            "studio.py": """\
            class Studio:
                def __init__(self):
                    self.things = {}
                    self.things["callbacks"] = []  # site 3 Studio.__init__
                def add(self, callback):
                    self.things["callbacks"].append(callback)  # site 2 Studio.add
                def rehearse(self):
                    pass
            """,
            "callbacks.py": """\
            class Guidance:
                def __init__(self):
                    self.things = {}
                    self.things["judge"] = Judge()  # site 1 Guidance.__init__
            """,
        },
    ),
    Case(
        "hooks that a library registers, by the method that they call",
        HoldingReference(
            "hook", "_forward_hooks", "cam.layer._forward_hooks[*]", element=True, calls="Recorder.save_activation"
        ),
        {
            "train.py": """\
            net.register_forward_hook(log_shapes)
            cam = Recorder(net)
            """,
            "lib/cams.py": """\
            class Recorder:
                def __init__(self, layer):
                    layer.register_forward_hook(self.save_activation)  # site 1 Recorder.__init__
                    layer.register_full_backward_hook(self.save_gradient)
                    layer.register_forward_pre_hook(self.save_activation)
                def save_activation(self, module, args, output):
                    self.activation = output
            """,
        },
        growing=True,
    ),
    Case(
        "hooks by the function that a factory makes, another registration beside",
        HoldingReference(
            "hook", "_forward_hooks", "net._forward_hooks[*]", element=True, calls="make_hook.<locals>.hook"
        ),
        {
            "train.py": """\
            def make_hook(name):
                def hook(module, args, output):
                    kept[name] = output
                return hook
            net.register_forward_hook(count)
            for name, layer in net.named_children():
                layer.register_forward_hook(make_hook(name))  # site 1 <module>
            """,
        },
        growing=True,
    ),
    Case(
        "hooks by their lambda, where another function registers one too",
        HoldingReference("hook", "_tensor_hooks", "x._tensor_hooks[*]", element=True, calls="watch.<locals>.<lambda>"),
        {
            "train.py": """\
            def watch(x):
                x.register_hook(lambda grad: seen.append(grad))  # site 1 watch
            def scale(x):
                x.register_hook(lambda grad: grad * 2)
            """,
        },
        growing=True,
    ),
    Case(
        "hooks of a module, by its table, element by element",
        HoldingReference("hook", "_forward_hooks", "net._forward_hooks", owner_type="torch.nn.Linear", element=True),
        {
            "train.py": """\
            for step in range(9):
                net.register_forward_hook(lambda m, i, o: step)  # site 1 <module>
            """
        },
        growing=True,
    ),
    Case(
        "an append to an item of a dict that an inner function keeps",
        HoldingReference(
            "item",
            "activations['act']",
            "activations['act'][*]",
            owner_type="cell",
            scope_file="train.py",
            scope_function="attach.<locals>.stats",
            scope_line=9,
            element=True,
            container_type="list",
        ),
        {
            "train.py": """\
            def attach(model):
                activations = defaultdict(list)

                def hook(module, args, output):
                    activations[module.name].append(output.detach())  # site 1 attach.<locals>.hook

                model.register_forward_hook(hook)

                def stats():
                    return len(activations)

                return stats
            """
        },
        growing=True,
    ),
    Case(
        "the update that fills a dict, not the statement that made it empty",
        HoldingReference("attribute", "last", "panel.last", owner_type="__main__.Panel", scope_file="train.py"),
        {
            "train.py": """\
            class Panel:
                def __init__(self):
                    self.last = {}

            def step(panel, out):
                panel.last.update(out)  # site 1 step
            """
        },
    ),
    Case(
        "the update that fills a global dict",
        other("global", "panel", "<module>"),
        {
            "train.py": """\
            panel = {}

            def step(out):
                panel.update(out)  # site 1 step
            """
        },
    ),
    Case(
        "an append to one of several lists that were made empty in one display",
        attribute("features", "train.Recorder", expression="rec.features"),
        {
            "train.py": """\
            class Recorder:
                def __init__(self, names):
                    self.features = {name: [] for name in names}

                def hook(self, name, out):
                    self.features[name].append(out)  # site 1 Recorder.hook
            """
        },
        growing=True,
    ),
    Case(
        "the definition of what an import brings in",
        other("global", "load_encoder", "<module>"),
        {
            "train.py": """\
            from tools.loading import load_encoder
            """,
            "tools/loading.py": """\
            @lru_cache(maxsize=2)
            def load_encoder(name):  # site 1 <module>
                return Encoder(name)
            """,
        },
        certain=False,
    ),
    Case(
        "the definition of what an import brings in from a package that has it from its own module",
        other("global", "load_encoder", "<module>"),
        {
            "train.py": """\
            from tools import load_encoder
            """,
            "tools/__init__.py": """\
            from tools.loading import load_encoder
            """,
            "tools/loading.py": """\
            @lru_cache(maxsize=2)
            def load_encoder(name):  # site 1 <module>
                return Encoder(name)
            """,
        },
        certain=False,
    ),
    Case(
        "the put that fills a queue",
        attribute("_q", "train.Logger", expression="log._q"),
        {
            "train.py": """\
            class Logger:
                def __init__(self):
                    self._q = queue.Queue(maxsize=0)

                def submit(self, image):
                    self._q.put(image)  # site 1 Logger.submit
            """
        },
        growing=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_marked_statements_are_found_in_order(case: Case) -> None:
    sources = sources_of(case.files)

    found = resolve_sites(case.reference, sources, growing=case.growing, hints=case.hints)
    certain = is_unambiguous(case.reference, sources, growing=case.growing, hints=case.hints)

    assert ([(s.file, s.line, s.function) for s in found], certain) == (marked(sources), case.certain)


def test_nothing_is_found_without_sources() -> None:
    assert resolve_sites(local("x", "f", 1), {}, growing=False) == ()
    assert not is_unambiguous(local("x", "f", 1), {}, growing=False)


def test_a_file_that_cannot_be_parsed_is_passed_over() -> None:
    sources = sources_of({"train.py": "def f(:\n", "b.py": "class C:\n    def f(self, x):\n        self.x = x\n"})

    assert resolve_sites(attribute("x", "b.C"), sources, growing=False) == (SourceLocation("b.py", 3, "C.f"),)


COLLECTED = """\
def collect(layer):
    outputs = []

    def keep(module, inputs, output):
        outputs.append(output)

    layer.register_forward_hook(keep)
    return outputs


def train(model):
    features = collect(model)
    for step in range(9):
        model(step)
"""


def test_of_several_names_of_a_container_the_one_that_is_stored_into_is_told() -> None:
    sources = sources_of({"train.py": COLLECTED})
    inner = other("closure", "outputs", "collect.<locals>.keep", element=True, line=4)
    outer = replace(local("features", "train", 13, element=True, container_type="list"), aliases=(inner,))

    assert name_that_stores(outer, sources, growing=True) == inner
    assert name_that_stores(outer, sources, growing=False) == outer
    assert name_that_stores(outer, {}, growing=True) == outer


def test_a_name_that_is_stored_into_is_kept_whatever_other_names_there_are() -> None:
    sources = sources_of({"train.py": COLLECTED + "        features.append(step)\n"})
    inner = other("closure", "outputs", "collect.<locals>.keep", element=True, line=4)
    outer = replace(local("features", "train", 13, element=True, container_type="list"), aliases=(inner,))

    assert name_that_stores(outer, sources, growing=True) == outer


CALLS = """
def forward(x, past=None):
    x = embed(x)
    return attend(x, past)

def stream(tokens):
    state = None
    while True:
        tokens, state = forward(tokens, state)

def serve(held):
    return stream(held)
"""


@pytest.mark.parametrize(
    ("name", "function", "line", "callers", "expected"),
    [
        ("past", "forward", 4, (("state", "stream", 9),), ("state", "stream")),
        ("past", "forward", 4, (("held", "serve", 12),), ("past", "forward")),  # a parameter itself
        ("past", "forward", 4, (("held", "serve", 12), ("state", "stream", 9)), ("state", "stream")),
        ("past", "forward", 4, (), ("past", "forward")),
        ("x", "forward", 4, (("state", "stream", 9),), ("x", "forward")),  # bound anew
    ],
)
def test_a_parameter_is_its_callers_variable(
    name: str, function: str, line: int, callers: tuple[tuple[str, str, int], ...], expected: tuple[str, str]
) -> None:
    others = tuple(local(each, scope, at) for each, scope, at in callers)
    sources = {"train.py": SourceFile("train.py", CALLS)}

    found = name_that_stores(replace(local(name, function, line), aliases=others), sources, growing=False)

    assert (found.name, found.scope_function) == expected


def test_an_item_of_a_parameter_is_an_item_of_its_callers_variable() -> None:
    given = replace(local("past['keys']", "forward", 4), kind="item")
    of_caller = replace(local("state['keys']", "stream", 9), kind="item")
    sources = {"train.py": SourceFile("train.py", CALLS)}

    found = name_that_stores(replace(given, aliases=(of_caller,)), sources, growing=False)

    assert found == of_caller
    assert [site.line for site in resolve_sites(found, sources, growing=False)][:1] == [9]
