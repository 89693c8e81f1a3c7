"""How far lint follows values and objects: each way with a look-alike that stays silent."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tenure.lint import lint_sources
from tenure.model.source import SourceFile


def told(text: str) -> list[tuple[str, int]]:
    """Rule and line of what is found in one file."""
    findings, failures = lint_sources([SourceFile("program.py", dedent(text))])
    assert failures == ()
    return [(each.rule, each.line) for each in findings]


def rules(text: str) -> list[str]:
    return [rule for rule, _ in told(text)]


STORE = """
    import copy
    import torch
    from torch import nn
    class Store:
        def __init__(self):
            self.rows = []
        def push(self, row):
            self.rows.append(row)
    class Pair:
        def __init__(self, network):
            self.network = network
            self.slow = {slow}
        def __call__(self, x):
            return self.network(x), self.slow(x)
    def step(pair, store, optimizer, x):
        learned, fixed = pair(x)
        loss = (learned - fixed).square().mean()
        loss.backward()
        optimizer.step()
        store.push({kept})
    def main(loader):
        pair, store = Pair(nn.Linear(8, 8)), Store()
        optimizer = torch.optim.SGD(pair.network.parameters())
        for x in loader:
            step(pair, store, optimizer, x)
"""


@pytest.mark.parametrize(
    ("slow", "kept", "found"),
    [
        ("copy.deepcopy(network)", "learned", ["TN107"]),
        ("copy.deepcopy(network)", "fixed", ["TN107"]),
        ("copy.deepcopy(network).requires_grad_(False)", "fixed", ["TN202"]),
        ("copy.deepcopy(network).requires_grad_(False)", "learned", ["TN107"]),
        ("copy.deepcopy(network)", "fixed.sum().item()", []),
    ],
)
def test_what_a_frozen_module_gives_has_no_graph(slow: str, kept: str, found: list[str]) -> None:
    assert rules(STORE.format(slow=slow, kept=kept)) == found


KEYS = """
    import torch
    from torch import nn
    class Loop:
        def __init__(self):
            self.outputs = []
        def step(self, net, batch):
            result = self.run(net, batch)
            result.pop("loss").backward()
            self.outputs.append({kept})
        def run(self, net, batch):
            out = net(batch)
            return {{"loss": out.mean(), "guess": {guess}, "name": "a"}}
    def main(loader):
        net, loop = nn.Linear(8, 8), Loop()
        for batch in loader:
            loop.step(net, batch)
"""


@pytest.mark.parametrize(
    ("kept", "guess", "found"),
    [
        ("result", "out", ["TN107"]),
        ("result", "out.detach()", ["TN202"]),
        ("result", "out.argmax().item()", []),
        ('result["guess"]', "out", ["TN107"]),
        ('result["name"]', "out", []),
    ],
)
def test_of_a_dict_that_is_written_out_the_key_that_is_meant_is_followed(
    kept: str, guess: str, found: list[str]
) -> None:
    assert rules(KEYS.format(kept=kept, guess=guess)) == found


PARTS = """
    import torch
    from torch import nn
    class History:
        def __init__(self):
            self.rows = []
        def __call__(self, result):
            self.rows.append({kept})
    class Printer:
        def __call__(self, result):
            print(result)
    class All:
        def __init__(self, *parts):
            self.parts = parts
        def __call__(self, **told):
            for part in self.parts:
                part(**told)
    def fit(model, data, report):
        for batch in data:
            loss = model(batch).mean()
            loss.backward()
            report(result={given})
    def main(data):
        fit(nn.Linear(4, 4), data, All(Printer(), History()))
"""


@pytest.mark.parametrize(
    ("kept", "given", "found"),
    [
        ("result", "loss", ["TN107"]),
        ("result", "loss.item()", []),
        ("result.item()", "loss", []),
        ("result.detach()", "loss", ["TN202"]),
    ],
)
def test_values_are_followed_through_callable_objects_that_are_handed_on(
    kept: str, given: str, found: list[str]
) -> None:
    assert rules(PARTS.format(kept=kept, given=given)) == found


GENERATOR = """
    import torch
    from torch import nn
    NAMES, OUTPUTS = [], []
    def results(model, data):
        for name, batch in data:
            yield name, model(batch)
    def log(name, output):
        NAMES.append(name)
        OUTPUTS.append({kept})
    def main(data):
        model = nn.Linear(4, 4)
        for name, output in results(model, data):
            log(str(name), output)
"""


@pytest.mark.parametrize(("kept", "found"), [("output", ["TN107"]), ("output.tolist()", [])])
def test_what_generators_yield_is_followed_place_by_place(kept: str, found: list[str]) -> None:
    assert rules(GENERATOR.format(kept=kept)) == found


def test_a_value_that_is_detached_where_it_is_a_tensor_has_no_graph() -> None:
    text = """
        from torch import nn
        class Means:
            def __init__(self):
                self.totals = {{}}
            def add(self, **values):
                for name, value in values.items():
                    value = {value}
                    self.totals[name] = self.totals.get(name, 0.0) + value
        def main(loader):
            net, means = nn.Linear(4, 4), Means()
            for batch in loader:
                loss = net(batch).mean()
                loss.backward()
                means.add(loss=loss)
    """

    assert rules(text.format(value='value.detach() if hasattr(value, "detach") else value')) == []
    assert rules(text.format(value="value * 2 if value else value")) == ["TN101"]


EVENTS = """
    from concurrent.futures import ThreadPoolExecutor
    from functools import partial
    import torch
    from torch import nn
    class Means:
        def __init__(self):
            self.sums = {{}}
            self.seen = []
        def on_done(self, terms):
            for name, value in terms.items():
                self.sums[name] = self.sums.get(name, 0.0) + value
        def on_begin(self, terms):
            self.seen.append(terms)
    class Other:
        def on_done(self, terms): print(terms)
        def on_begin(self, terms): print(terms)
    class Loop:
        def __init__(self, *callbacks):
            self.callbacks = list(callbacks)
        def fire(self, event, **kwargs):
            for callback in self.callbacks:
                {call}
    def main(loader):
        net, loop = nn.Linear(4, 4), Loop(Means(), Other())
        for batch in loader:
            loop.fire("begin", terms=3)
            loss = net(batch).mean()
            loss.backward()
            loop.fire("done", terms={terms})
"""


@pytest.mark.parametrize(
    ("call", "terms", "found"),
    [
        ('getattr(callback, f"on_{event}")(**kwargs)', '{"loss": loss}', ["TN101"]),
        ('getattr(callback, f"on_{event}")(**kwargs)', '{"loss": loss.item()}', []),
        ('getattr(callback, "on_begin")(**kwargs)', '{"loss": 1.0}', []),
    ],
)
def test_events_are_followed_by_their_names(call: str, terms: str, found: list[str]) -> None:
    assert [rule for rule, line in told(EVENTS.format(call=call, terms=terms)) if line == 12] == found


APPLIED = """
    from concurrent.futures import ThreadPoolExecutor
    from functools import partial
    import torch
    from torch import nn
    class Store:
        def __init__(self):
            self.rows = []
        def keep(self, name, row):
            self.rows.append(row)
    def main(loader, pool):
        net, store = nn.Linear(4, 4), Store()
        tell = partial(store.keep, "a")
        for batch in loader:
            out = net(batch){cut}
            {call}
"""


@pytest.mark.parametrize(
    "call", ['pool.submit(store.keep, "a", out)', 'list(map(store.keep, ["a"], [out]))', "tell(out)", "tell(row=out)"]
)
@pytest.mark.parametrize(("cut", "found"), [("", ["TN107"]), (".detach()", ["TN202"]), (".tolist()", [])])
def test_a_function_that_is_handed_on_with_its_arguments_gets_them(call: str, cut: str, found: list[str]) -> None:
    assert rules(APPLIED.format(call=call, cut=cut)) == found


STATE = """
    import torch
    from torch import nn
    class Task:
        def __init__(self):
            self.net = nn.GRU(4, 4)
            self.kept = None
        @property
        def state(self):
            return self.kept
        @state.setter
        def state(self, value):
            self.kept = value
        def step(self, batch):
            out, self.state = {value}
            out.mean().backward(retain_graph=True)
"""


def test_a_state_that_is_one_of_two_results_is_carried() -> None:
    assert told(STATE.format(value="self.net(batch, self.state)")) == [("TN105", 15)]
    assert told(STATE.format(value="self.net(batch, self.state.detach())")) == []


def test_what_a_tensor_takes_up_with_its_graph_leads_to_it() -> None:
    text = """
        import torch
        from torch import nn
        class Targets:
            def __init__(self, samples):
                self.values = torch.zeros(samples, 4)
            def update(self, index, logits):
                self.values = self.values.index_copy(0, index, {given})
        def main(loader):
            net, targets = nn.Linear(4, 4), Targets(9)
            for index, batch in loader:
                logits = net(batch)
                logits.mean().backward()
                targets.update(index, logits)
    """

    assert told(text.format(given="logits.softmax(-1)")) == [("TN105", 8)]
    assert told(text.format(given="logits.softmax(-1).detach()")) == []


BOUNDED = """
    from collections import deque
    import torch
    from torch import nn
    class Stopper:
        def __init__(self):
            self.window = deque(maxlen=5)
            self.total = 0.0
        def __call__(self, value):
            self.window.append(value)
            {more}
    def main(loader):
        net, stopper = nn.Linear(4, 4), Stopper()
        for batch in loader:
            net(batch).mean().backward()
            stopper(net(batch).mean(){cut})
"""


@pytest.mark.parametrize(
    ("more", "cut", "found"),
    [
        ("print(float(sum(self.window)))", "", ["TN107"]),
        ("print(float(sum(self.window)))", ".detach()", []),
        ("torch.stack(tuple(self.window)).mean().backward()", "", []),
    ],
)
def test_a_container_with_a_length_is_told_where_it_keeps_graphs_that_nobody_wants(
    more: str, cut: str, found: list[str]
) -> None:
    assert rules(BOUNDED.format(more=more, cut=cut)) == found


ALIAS = """
    import torch
    from torch import nn
    class Book:
        def __init__(self):
            self.rows = {{"a": []}}
        def log(self, value):
            rows = self.rows["a"]
            {fill}
        def fill(self, rows, value):
            rows.append(value)
    def main(loader):
        net, book = nn.Linear(4, 4), Book()
        for batch in loader:
            net(batch).mean().backward()
            book.log(net(batch))
"""


@pytest.mark.parametrize(
    ("fill", "found"),
    [
        ("rows.append(value)", [("TN107", 9)]),
        ("self.fill(rows, value)", [("TN107", 11)]),
        ("rows.append(value); rows.pop(0)", []),
        ("rows = []; rows.append(value)", []),
    ],
)
def test_a_variable_or_parameter_that_stands_for_a_container_is_followed_to_it(
    fill: str, found: list[tuple[str, int]]
) -> None:
    assert told(ALIAS.format(fill=fill)) == found


VIEWS = """
    import torch
    from torch import nn
    class Bank:
        def __init__(self):
            self.rows = {{}}
        def record(self, name, row):
            self.rows[name] = row
    class Tiles:
        def __init__(self, parts):
            self.parts = parts
        def __iter__(self):
            return iter(self.parts)
    def main(loader, net: nn.Module):
        bank = Bank()
        for batch in loader:
            with torch.no_grad():
                tokens = net(batch)
            for name, row in zip(batch.names, {rows}):
                bank.record(name, row{copy})
"""


@pytest.mark.parametrize(
    ("rows", "copy", "found"),
    [
        ("tokens[:, 0]", "", ["TN204"]),
        ("tokens.unbind(0)", "", ["TN204"]),
        ("tokens[:, 0]", ".clone()", []),
        ("tokens.tolist()", "", []),
    ],
)
def test_a_row_that_is_handed_to_a_table_keeps_its_tensor_by_whatever_key(
    rows: str, copy: str, found: list[str]
) -> None:
    assert [rule for rule, _ in told(VIEWS.format(rows=rows, copy=copy))] == found


ERRORS = """
    import logging, sys
    import torch
    log = logging.getLogger("a")
    class Failure:
        def __init__(self, number, error):
            self.number, self.error = number, error
    class Incidents(logging.Handler):
        def __init__(self):
            self.records = []
        def emit(self, record):
            self.records.append(record)
    class Guard:
        def __init__(self):
            self.failures, self.last = [], None
        def __enter__(self):
            return self
        def __exit__(self, kind, error, trace):
            {leave}
            return True
        def attempt(self, number, batch):
            try:
                return batch.sum()
            except RuntimeError as caught:
                return self.failed(number, caught)
        def failed(self, number, error):
            {fail}
"""


@pytest.mark.parametrize(
    ("leave", "fail", "found"),
    [
        ("pass", "return None", []),
        ("self.last = error", "return None", [("TN302", 19)]),
        ("self.last = repr(error)", "return None", []),
        ("pass", "self.failures.append(Failure(number, error))", [("TN302", 27)]),
        ("pass", "self.failures.append(Failure(number, str(error)))", []),
        ("pass", "sys.last_type, sys.last_value = type(error), error", [("TN302", 27)]),
        ("pass", "log.warning('x', exc_info=True)", [("TN302", 12)]),
        ("pass", "log.warning('x %s', error)", []),
        ("pass", "self.failures.append(Failure(number, error.with_traceback(None)))", []),
    ],
)
def test_exceptions_are_followed_to_where_they_are_stored(leave: str, fail: str, found: list[tuple[str, int]]) -> None:
    assert told(ERRORS.format(leave=leave, fail=fail)) == found


FUTURES = """
    import torch
    class Service:
        def __init__(self, pool):
            self.pool, self.refused = pool, {{}}
        def handle(self, number, request):
            future = self.pool.submit(len, request)
            if future.exception() is not None:
                self.refused[number] = {kept}
"""


def test_a_future_that_is_kept_keeps_its_exception() -> None:
    assert told(FUTURES.format(kept="(number, future)")) == [("TN302", 9)]
    assert told(FUTURES.format(kept="str(future.exception())")) == []


SHORT = """
    import torch
    class Episode:
        def __init__(self):
            self.parts = []
        def add(self, part):
            self.parts.append(part)
        def batch(self):
            return torch.cat(self.parts)
    ALL = []
    def play(make, steps):
        episode = make()
        for _ in range(steps):
            episode.add(torch.randn(4))
        {after}
        return episode
    def main():
        for _ in range(100):
            play(Episode, 3).batch()
"""


def test_what_an_object_collects_goes_with_it_where_each_turn_makes_its_own() -> None:
    assert rules(SHORT.format(after="pass")) == []
    assert "TN202" in rules(SHORT.format(after="ALL.append(episode)"))


WITH = """
    import torch
    from torch import nn
    class Probe:
        def attach(self, module):
            self.handle = module.register_forward_hook(self)
            return self
        def __call__(self, module, inputs, output):
            print(output.shape)
    class Probes:
        def __init__(self, *modules):
            self.modules, self.probes = modules, []
        def __enter__(self):
            self.probes = [Probe().attach(module) for module in self.modules]
        def __exit__(self, *exception):
            for probe in self.probes:
                {leave}
    def step(net, batch):
        with Probes(net):
            return net(batch).detach()
    def main(loader):
        net = nn.Linear(4, 4)
        for batch in loader:
            step(net, batch)
"""


@pytest.mark.parametrize(("leave", "found"), [("print(probe)", ["TN303"]), ("probe.handle.remove()", [])])
def test_what_a_with_statement_enters_runs_as_often_as_it(leave: str, found: list[str]) -> None:
    assert rules(WITH.format(leave=leave)) == found


MERGED = """
    import torch
    class Conditioner:
        def __init__(self, encoder):
            self.encoder, self.encoded = encoder, {{}}
        @torch.no_grad()
        def encode(self, prompts):
            return dict(zip(prompts, self.encoder(prompts)))
        def __call__(self, prompts):
            new = [prompt for prompt in prompts if prompt not in self.encoded]
            self.encoded |= self.encode({keys})
            {more}
            return [self.encoded[prompt] for prompt in prompts]
"""


@pytest.mark.parametrize(
    ("keys", "more", "found"),
    [
        ("new", "pass", ["TN203"]),
        ("new", "while len(self.encoded) > 64: self.encoded.pop(next(iter(self.encoded)))", []),
        ('["a", "b"]', "pass", []),
    ],
)
def test_a_table_that_takes_up_another_grows_by_its_keys(keys: str, more: str, found: list[str]) -> None:
    assert rules(MERGED.format(keys=keys, more=more)) == found


WAITING = """
    import torch
    from torch import nn
    class Trainer:
        def __init__(self, pool):
            self.net, self.pool, self.soft = nn.Linear(4, 4), pool, []
        def results(self):
            for batch in self.pool:
                yield self.net(batch){cut}
        def begin(self):
            self.soft = list(self.results())
        def step(self, batch):
            loss = {loss}
            loss.backward()
    def main(pool):
        trainer = Trainer(pool)
        for epoch in range(9):
            trainer.begin()
            for batch in pool:
                trainer.step(batch)
"""


@pytest.mark.parametrize(
    ("cut", "loss", "found"),
    [
        ("", "self.net(batch).mean()", ["TN107"]),
        (".detach()", "self.net(batch).mean()", []),
        ("", "(self.net(batch) - self.soft[0]).mean()", []),
    ],
)
def test_outputs_of_a_whole_pass_that_wait_for_the_next_are_told(cut: str, loss: str, found: list[str]) -> None:
    assert rules(WAITING.format(cut=cut, loss=loss)) == found


STASH = """
    import torch
    def stash(ctx, **values):
        for name, value in values.items():
            {set}
    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx, query, key):
            weights = torch.matmul(query, key).softmax(-1)
            stash(ctx, {given})
            return weights
"""


@pytest.mark.parametrize(
    ("set", "given", "found"),
    [
        ("setattr(ctx, name, value)", "weights=weights", [("TN103", 10)]),
        ("setattr(ctx, name, value)", "scale=3", []),
        ("print(name, value)", "weights=weights", []),
    ],
)
def test_what_a_helper_sets_on_the_context_is_kept_there(set: str, given: str, found: list[tuple[str, int]]) -> None:
    assert told(STASH.format(set=set, given=given)) == found


COPIES = """
    import copy
    from dataclasses import dataclass, field
    import torch
    from torch import nn
    @dataclass
    class Result:
        score: float
        learner: nn.Module
    @dataclass
    class Meta:
        model: nn.Module
        results: list = field(default_factory=list)
        def adapt(self, task):
            learner = copy.deepcopy(self.model)
            return learner
        def step(self, task):
            learner = self.adapt(task)
            self.results.append(Result(1.0, {kept}))
    def main(tasks):
        meta = Meta(nn.Linear(4, 4))
        for task in tasks:
            meta.step(task)
"""


@pytest.mark.parametrize(("kept", "found"), [("learner", ["TN402"]), ("len(list(learner.children()))", [])])
def test_copies_are_followed_to_where_they_are_kept(kept: str, found: list[str]) -> None:
    assert rules(COPIES.format(kept=kept)) == found


def test_what_another_class_of_the_folder_empties_is_not_emptied() -> None:
    text = """
        import torch
        class Store:
            def __init__(self):
                self.rows = []
            def keep(self, row):
                self.rows.append(row.detach())
        class Other{base}:
            def __init__(self):
                self.rows = []
            def flush(self):
                self.rows.clear()
        def main(loader):
            store = Store()
            for batch in loader:
                store.keep(batch)
    """

    assert rules(text.format(base="")) == ["TN202"]
    assert rules(text.format(base="(Store)")) == []


PACKED = """
    import torch
    from torch.autograd.graph import saved_tensors_hooks
    class Record:
        def __init__(self):
            self.saved = []
        def add(self, tensor):
            self.saved.append({kept})
            return tensor
    class Meter:
        def __init__(self):
            self.records = []
        def step(self, net, batch):
            record = Record()
            self.records.append(record)
            with saved_tensors_hooks(record.add, lambda tensor: tensor):
                net(batch).sum().backward()
    def main(net, loader):
        meter = Meter()
        for batch in loader:
            meter.step(net, batch)
"""


@pytest.mark.parametrize(("kept", "found"), [("tensor", ["TN202"]), ("tuple(tensor.shape)", [])])
def test_a_hook_may_be_any_objects_method(kept: str, found: list[str]) -> None:
    assert rules(PACKED.format(kept=kept)) == found


CLEARED = """
    import torch
    from torch import nn
    class Features:
        def __init__(self, layer):
            self.outputs = {{}}
            layer.register_forward_hook(self.collect)
        def collect(self, module, inputs, output):
            step = len(self.outputs)
            {first}
            self.outputs["a"][step] = output
        def read(self):
            found = list(self.outputs["a"].values())
            {clear}
            return found
"""


@pytest.mark.parametrize(
    ("first", "clear", "found"),
    [
        ("pass", "pass", ["TN107"]),
        ("pass", 'self.outputs["a"] = {}', []),
        ('if "a" not in self.outputs: self.outputs["a"] = {}', "pass", ["TN107"]),
    ],
)
def test_an_element_that_starts_anew_is_emptied(first: str, clear: str, found: list[str]) -> None:
    assert rules(CLEARED.format(first=first, clear=clear)) == found


SUMMED = """
    import torch
    def train(model, loader, optimizer):
        total = {start}
        for x in loader:
            loss = train_step(model, x)
            optimizer.step()
            {adds}
        return total
    def train_step(model, x):
        loss = model(x).square().mean()
        loss.backward()
        return {given}
"""


@pytest.mark.parametrize("start", ["0.0", "None"])
@pytest.mark.parametrize(
    "adds",
    [
        "total += loss",
        "total = total * 0.9 + loss",
        "total = (9 * total + loss) / 10",
        "total = 0.5 * (total + loss)",
        "total = loss if total is None else total + loss",
        "total = total + loss if total is not None else loss",
    ],
)
@pytest.mark.parametrize(
    ("given", "found"), [("loss", ["TN101"]), ("loss.detach()", []), ("loss.item()", []), ("x.sum()", [])]
)
def test_a_sum_of_losses_that_a_helper_has_run_backward_through_is_told(
    start: str, adds: str, given: str, found: list[str]
) -> None:
    assert rules(SUMMED.format(start=start, adds=adds, given=given)) == found


@pytest.mark.parametrize(
    ("first", "found"),
    [("if total is None:", ["TN101"]), ("if len(x) > 8:", []), ("if x is None:", []), ("if total is x:", [])],
)
def test_a_sum_that_begins_in_its_loop_is_told_where_it_begins_once(first: str, found: list[str]) -> None:
    text = f"""
        import torch
        def train(model, loader, optimizer):
            total = None
            for x in loader:
                loss = model(x).square().mean()
                loss.backward()
                optimizer.step()
                {first}
                    total = loss
                else:
                    total = total + loss
            return total
    """
    assert rules(text) == found


@pytest.mark.parametrize(
    "sums",
    [
        "total = loss if total is None else total + loss",
        "total = (total + loss) / 2 if total is not None else loss",
    ],
)
def test_a_sum_that_backward_runs_through_is_wanted(sums: str) -> None:
    text = f"""
        import torch
        def train(model, loader, optimizer):
            for parts in loader:
                total = None
                for part in parts:
                    loss = model(part).square().mean()
                    {sums}
                total.backward()
                optimizer.step()
    """
    assert rules(text) == []


TABLE = """
    import torch
    from torch import nn
    class Memory(nn.Module):
        def __init__(self):
            super().__init__()
            {made}
            self.cell = nn.GRUCell(4, 4)
        def forward(self, ids, x):
            new = self.cell(x, self.memory[ids])
            self.memory[ids] = {stored}
            return new
    def train(model, data, optimizer):
        for ids, x in data:
            model(ids, x).mean().backward(retain_graph=True)
            optimizer.step()
"""


@pytest.mark.parametrize(
    "made", ['self.register_buffer("memory", torch.zeros(10, 4))', "self.memory = torch.zeros(10, 4)"]
)
@pytest.mark.parametrize(("stored", "found"), [("new", ["TN105"]), ("new.detach()", [])])
def test_rows_of_a_tensor_that_are_set_with_their_graphs_carry_it_on(made: str, stored: str, found: list[str]) -> None:
    assert rules(TABLE.format(made=made, stored=stored)) == found
