"""Small programs in the shapes of real trainers, services and their helpers: each as it leaks, and once more with the
one edit that mends it."""

from __future__ import annotations

from told import rules

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def test_what_is_handed_on_by_star_arguments_reaches_its_own_parameter_alone() -> None:
    text = f"""{HEAD}
class Recorder:
    def __init__(self):
        self.pairs = []
    def on_batch_end(self, outputs, batch):
        _, labels = batch
        self.pairs.append(outputs["logits"])
    def on_epoch_end(self):
        self.pairs.clear()
class Fire:
    def __init__(self, callbacks):
        self.callbacks = list(callbacks)
    def __call__(self, event, *args):
        for callback in self.callbacks:
            getattr(callback, event)(*args)
def main(loader):
    net = nn.Linear(4, 3)
    fire, optimizer = Fire([Recorder()]), torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(10):
        for batch in loader:
            x, y = batch
            logits = net(x)
            loss = F.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            fire("on_batch_end", {{"logits": logits}}, batch)
        fire("on_epoch_end")
"""
    assert rules(text) == ["TN107"]
    assert rules(text.replace('append(outputs["logits"])', "append(labels)")) == []


def test_what_a_short_lived_reporter_has_stays_where_its_maker_stores_it() -> None:
    text = f"""{HEAD}
from collections import defaultdict
from contextlib import contextmanager
class SubReporter:
    def __init__(self):
        self.stats = defaultdict(list)
    def register(self, stats):
        for key, value in stats.items():
            self.stats[key].append(value)
class Reporter:
    def __init__(self):
        self.stats = {{}}
    @contextmanager
    def observe(self, epoch):
        sub = SubReporter()
        yield sub
        self.stats.setdefault(epoch, {{}})["train"] = sub.stats
def main(net, loader):
    reporter, optimizer = Reporter(), torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(10):
        with reporter.observe(epoch) as sub:
            for x, y in loader:
                logits = net(x)
                F.cross_entropy(logits, y).backward()
                optimizer.step()
                optimizer.zero_grad()
                sub.register({{"frames": logits.detach()}})
"""
    assert rules(text) == ["TN202"]
    assert rules(text.replace("= sub.stats", "= len(sub.stats)")) == []


def test_plans_that_a_single_registry_keeps_by_size_are_a_cache() -> None:
    text = f"""{HEAD}
class Plan:
    def __init__(self, height, width):
        self.coords = torch.stack([torch.arange(height), torch.arange(height) * width])
class Registry:
    _instance = None
    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.plans = {{}}
        return cls._instance
    def lookup(self, height, width):
        try:
            return self.plans[height, width]
        except KeyError:
            plan = self.plans[height, width] = Plan(height, width)
            return plan
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Linear(2, 1)
    def forward(self, x):
        h, w = x.shape
        return x.sum() + self.bias(Registry().lookup(h, w).coords.float().t()).sum()
def main(images):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in images:
        loss = net(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
    assert rules(text) == ["TN203"]
    assert (
        rules(
            text.replace(
                "            plan = self.plans", "            self.plans.clear()\n            plan = self.plans"
            )
        )
        == []
    )


def test_a_decorator_that_is_given_what_makes_its_keys_fills_a_cache() -> None:
    text = f"""{HEAD}
def memoize(key):
    def decorate(function):
        store = {{}}
        def wrapped(self, *args):
            known = key(*args)
            if known not in store:
                store[known] = function(self, *args)
            return store[known]
        return wrapped
    return decorate
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.EmbeddingBag(1000, 64)
    @memoize(lambda prompt: prompt.lower())
    @torch.no_grad()
    def encode(self, prompt):
        return self.embed(torch.tensor([[ord(each) for each in prompt]]))
def main(captions):
    encoder = Encoder()
    for caption in captions:
        print(encoder.encode(caption).norm().item())
"""
    assert rules(text) == ["TN203"]
    assert rules(text.replace("            if known not", "            store.clear()\n            if known not")) == []


def test_objects_made_for_each_request_keep_what_others_give_them() -> None:
    text = f"""{HEAD}
import uuid
class Conversation:
    def __init__(self, name):
        self.id, self.past = name, None
class Engine:
    def __init__(self, model):
        self.model, self.conversations = model, {{}}
    def open(self):
        conversation = Conversation(uuid.uuid4().hex)
        self.conversations[conversation.id] = conversation
        return conversation.id
    @torch.inference_mode()
    def say(self, name, ids):
        conversation = self.conversations[name]
        logits, conversation.past = self.model(ids, conversation.past)
        return logits.argmax(-1)
def main(model, requests):
    engine = Engine(model)
    for ids in requests:
        engine.say(engine.open(), ids)
"""
    assert rules(text) == ["TN202"]
    assert (
        rules(
            text.replace("return logits.argmax(-1)", "del self.conversations[name]\n        return logits.argmax(-1)")
        )
        == []
    )


def test_spans_that_an_exporter_keeps_keep_their_attributes() -> None:
    text = f"""{HEAD}
from contextlib import contextmanager
class Span:
    def __init__(self, name):
        self.name, self.attributes = name, {{}}
    def set(self, key, value):
        self.attributes[key] = value
class Exporter:
    def __init__(self):
        self.spans = []
    def export(self, span):
        self.spans.append(span)
class Tracer:
    def __init__(self, exporter):
        self.exporter = exporter
    @contextmanager
    def span(self, name):
        span = Span(name)
        yield span
        self.exporter.export(span)
def main(net, loader):
    tracer, optimizer = Tracer(Exporter()), torch.optim.SGD(net.parameters(), 0.1)
    for x, y in loader:
        with tracer.span("step") as span:
            logits = net(x)
            span.set("logits", logits.detach())
            F.cross_entropy(logits, y).backward()
            optimizer.step()
            optimizer.zero_grad()
"""
    assert rules(text) == ["TN202"]
    assert rules(text.replace("logits.detach())", "logits.norm().item())")) == []


def test_power_iterations_on_a_layers_own_weight_carry_their_graph() -> None:
    text = f"""{HEAD}
class Normed(nn.Linear):
    def __init__(self, *args):
        super().__init__(*args)
        self.register_buffer("u", torch.randn(self.out_features))
    def sigma(self):
        v = F.normalize(self.weight.t() @ self.u, dim=0)
        self.u = F.normalize(self.weight @ v, dim=0)
        return self.u @ (self.weight @ v)
    def forward(self, x):
        return F.linear(x, self.weight / self.sigma(), self.bias)
def main(loader):
    net = Normed(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in loader:
        loss = net(x).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
"""
    assert rules(text) == ["TN105"]
    assert rules(text.replace("@ v, dim=0)", "@ v, dim=0).detach()")) == []


def test_a_variable_that_its_own_method_gives_anew_carries_the_graph_on() -> None:
    text = f"""{HEAD}
from dataclasses import dataclass, replace
@dataclass(frozen=True)
class Dual:
    value: torch.Tensor
    def stepped(self, violation):
        return replace(self, value=(self.value + 0.01 * violation).clamp(min=0))
def main(loader):
    net, dual = nn.Linear(4, 2), Dual(torch.zeros(()))
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in loader:
        out = net(x)
        violation = out.abs().mean() - 0.1
        loss = F.cross_entropy(out, y) + dual.value.detach() * violation
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        dual = dual.stepped(violation)
"""
    assert rules(text) == ["TN105"]
    assert rules(text.replace("stepped(violation)\n", "stepped(violation.detach())\n")) == []


def test_hooks_for_each_task_pile_up_where_each_task_trains() -> None:
    text = f"""{HEAD}
class Watch:
    def __init__(self):
        self.hooks = {{}}
    def watch(self, model, prefix):
        for name, p in model.named_parameters():
            self.hooks[prefix + name] = p.register_hook(print)
def finetune(model, task, watch, loader):
    watch.watch(model, prefix=task)
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
def main(model, loader):
    watch = Watch()
    for task in ("copy", "sort"):
        finetune(model, task, watch, loader)
"""
    assert rules(text) == ["TN303"]
    removed = "if old := self.hooks.pop(prefix + name, None):\n                old.remove()\n            self.hooks["
    assert rules(text.replace("self.hooks[", removed)) == []


def test_the_value_of_exc_info_is_the_exception() -> None:
    text = f"""{HEAD}
import sys
class Reports:
    def __init__(self):
        self.reports = []
    def capture(self):
        kind, value, trace = sys.exc_info()
        self.reports.append({{"kind": kind.__name__, "value": value}})
def main(net, loader):
    reports = Reports()
    for x in loader:
        try:
            net(x).mean().backward()
        except ArithmeticError:
            reports.capture()
"""
    assert rules(text) == ["TN302"]
    assert rules(text.replace('"value": value', '"value": str(value)')) == []


def test_keys_that_come_round_make_no_growing_table() -> None:
    text = f"""{HEAD}
class Streamer:
    def __init__(self, net):
        self.net, self.states = net, {{}}
    @torch.no_grad()
    def __call__(self, camera, clip):
        self.states[camera] = self.net(clip)
def main(net, clips):
    streamer = Streamer(net)
    for step, clip in enumerate(clips):
        camera = step
        streamer(camera, clip)
"""
    assert rules(text) == ["TN202"]
    assert rules(text.replace("camera = step", "camera = step % 4")) == []


def test_an_item_of_an_object_is_set_by_its_own_method() -> None:
    text = f"""{HEAD}
from collections import OrderedDict
class Cache:
    def __init__(self, capacity=128):
        self.capacity, self.items = capacity, OrderedDict()
    def __contains__(self, key):
        return key in self.items
    def __getitem__(self, key):
        return self.items[key]
    def __setitem__(self, key, value):
        self.items[key] = value
        self.items.move_to_end(key)
class Embedder:
    def __init__(self, net):
        self.net, self.cache = net.eval(), Cache()
    @torch.no_grad()
    def __call__(self, doc_id, tokens):
        if doc_id not in self.cache:
            self.cache[doc_id] = self.net(tokens)
        return self.cache[doc_id]
def main(net, documents):
    embedder = Embedder(net)
    for doc_id, tokens in documents:
        print(embedder(doc_id, tokens).norm().item())
"""
    assert rules(text) == ["TN203"]
    bounded = (
        "move_to_end(key)\n        while len(self.items) > self.capacity:\n            self.items.popitem(last=False)"
    )
    assert rules(text.replace("move_to_end(key)", bounded)) == []


def test_a_number_by_its_annotation_is_no_tensor() -> None:
    text = f"""{HEAD}
class Request:
    def __init__(self):
        self.logprobs = []
    def update(self, logprob: float | None):
        self.logprobs.append(logprob)
def main(net, batches):
    request = Request()
    for x in batches:
        with torch.no_grad():
            probs = net(x).log_softmax(-1)
        request.update(probs)
"""
    assert rules(text) == []
    assert rules(text.replace(": float | None", "")) == ["TN202"]
