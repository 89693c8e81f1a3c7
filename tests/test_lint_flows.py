"""Ways by which values, keys, errors and hooks get to where they stay: each with a look-alike that stays silent."""

from __future__ import annotations

import pytest

from told import rules, told

CALLED_MODULE = """
    import torch
    from torch import nn
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.charge = 0.0
        def reset(self):
            self.charge = 0.0
        def forward(self, current):
            self.charge = 0.9 * {charge} + current
            return torch.sigmoid(self.charge)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lins = nn.ModuleList([nn.Linear(8, 8)])
            self.cells = nn.ModuleList([Cell()])
        def forward(self, x):
            for lin, cell in zip(self.lins, self.cells):
                x = cell(lin(x))
            return x
    def train(net, optimizer, events):
        for x, y in events:
            {start}
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward(retain_graph=True)
            optimizer.step()
    train(Net(), torch.optim.SGD(Net().parameters()), [])
"""


@pytest.mark.parametrize(
    ("charge", "start", "found"),
    [
        ("self.charge", "pass", ["TN105"]),
        ("self.charge", "net.cells[0].reset()", []),
        ("torch.as_tensor(self.charge).detach()", "pass", []),
    ],
)
def test_what_a_module_is_called_with_goes_into_its_forward(charge: str, start: str, found: list[str]) -> None:
    assert rules(CALLED_MODULE.format(charge=charge, start=start)) == found


CLOSED_OVER = """
    import torch
    from torch import nn
    class Recorder:
        def __init__(self, model):
            self.maps = {{}}
            for name, module in model.named_modules():
                self.maps[name] = []
                module.register_forward_hook(self._make(name))
        def _make(self, name):
            rows = self.maps[name]
            def hook(module, given, out):
                {kept}
            return hook
"""


@pytest.mark.parametrize(
    ("kept", "found"),
    [("rows.append(out)", ["TN107"]), ("rows[:] = [out.detach()]", []), ("rows.append(out.mean().item())", [])],
)
def test_an_inner_function_fills_what_a_variable_around_it_stands_for(kept: str, found: list[str]) -> None:
    assert rules(CLOSED_OVER.format(kept=kept)) == found


KEYED = """
    import hashlib
    import torch
    class Kernels(dict):
        def __missing__(self, key):
            {parts} = key
            self[key] = torch.ones(8, 8)
            return self[key]
    class Latents:
        def __init__(self, vae):
            self.vae, self.rows = vae, {{}}
        @torch.no_grad()
        def encode(self, sample, kind):
            key = {key}
            if key not in self.rows:
                self.rows[key] = self.vae(sample["image"])
            return self.rows[key]
    def main(vae, samples):
        latents, kernels = Latents(vae), Kernels()
        for sample in samples:
            print(latents.encode(sample, "a").mean() + kernels[(3, 0.5)].sum())
"""


@pytest.mark.parametrize(
    ("parts", "key", "found"),
    [
        ("size, sigma", "kind", [("TN203", 7)]),
        ("kind, device", 'sample["image_id"]', [("TN203", 16)]),
        ("kind, device", 'hashlib.sha1(sample["path"]).hexdigest()', [("TN203", 16)]),
        ("kind, device", "str(kind)", []),
    ],
)
def test_keys_that_tell_one_sample_or_size_from_another_are_open(
    parts: str, key: str, found: list[tuple[str, int]]
) -> None:
    assert told(KEYED.format(parts=parts, key=key)) == found


THREAD = """
    import queue, threading
    import torch
    class Log:
        def __init__(self):
            self.jobs, self.rows = queue.Queue(), []
            threading.Thread(target=self.drain).start()
        def drain(self):
            while True:
                tensor = self.jobs.get()
                {kept}
        def write(self, tensor):
            self.jobs.put(tensor)
    def main(model, optimizer, batches):
        log = Log()
        for x in batches:
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            log.write(x.detach().clone())
"""


@pytest.mark.parametrize(
    ("kept", "found"),
    [("self.rows.append(tensor)", ["TN202"]), ("self.rows.append(tensor)\n                return", [])],
)
def test_what_a_thread_without_an_end_collects_stays(kept: str, found: list[str]) -> None:
    assert rules(THREAD.format(kept=kept)) == found


ERRORS = """
    import functools
    def tolerant(errors):
        def wrap(function):
            @functools.wraps(function)
            def inner(*args):
                try:
                    return function(*args)
                except ValueError as error:
                    errors.append({kept})
            return inner
        return wrap
    import torch
"""


@pytest.mark.parametrize(("kept", "found"), [("error", ["TN302"]), ("repr(error)", [])])
def test_a_list_that_a_decorator_is_given_lives_on(kept: str, found: list[str]) -> None:
    assert rules(ERRORS.format(kept=kept)) == found


FUTURES = """
    import torch
    from concurrent.futures import as_completed
    class Shards:
        def __init__(self, pool):
            self.pool, self.broken = pool, []
        def run(self, work, parts):
            for future in as_completed([self.pool.submit(work, each) for each in parts]):
                error = future.exception()
                if error is not None:
                    self.broken.append({kept})
"""


@pytest.mark.parametrize(("kept", "found"), [("error", ["TN302"]), ("str(error)", [])])
def test_what_a_future_failed_with_is_an_error(kept: str, found: list[str]) -> None:
    assert rules(FUTURES.format(kept=kept)) == found


PROPERTY = """
    import torch
    class Probe:
        def __init__(self, model):
            self.model = model
        @property
        def handles(self):
            return [each.register_forward_hook(print) for each in self.model.children()]
    def train(model, optimizer, loader):
        probe = Probe(model)
        {once}
        for x in loader:
            {each}
            loss = model(x).mean()
            loss.backward()
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("once", "each", "found"), [("pass", "handles = probe.handles", ["TN303"]), ("handles = probe.handles", "pass", [])]
)
def test_reading_a_property_runs_it(once: str, each: str, found: list[str]) -> None:
    assert rules(PROPERTY.format(once=once, each=each)) == found


def test_a_hook_that_closes_over_what_a_step_computes_is_another_one_each_step() -> None:
    program = """
        import torch
        def train(model, loader, optimizer, factors):
            for step, x in enumerate(loader):
                factor = factors[step]
                for p in model.parameters():
                    p.register_hook(lambda g, f=factor: g * f)
                model(x).mean().backward()
                optimizer.step()
    """
    assert rules(program) == ["TN303"]
    assert rules(program.replace("model(x).mean().backward()", "pass").replace("optimizer.step()", "pass")) == []


SECOND_ORDER = """
    import torch
    class Curved(torch.optim.Optimizer):
        every, count = 10, 0
        @property
        def needs_graph(self):
            return self.count % self.every == 0
    def closure_for(model, x, optimizer):
        def closure():
            loss = model(x).mean()
            loss.backward(create_graph=optimizer.needs_graph)
            return loss
        return closure
    def fit(model, loader):
        optimizer = Curved(model.parameters())
        for x in loader:
            {before}
            optimizer.step(closure_for(model, x, optimizer))
            {behind}
"""


@pytest.mark.parametrize(
    ("before", "behind", "found"),
    [("optimizer.zero_grad()", "pass", ["TN104"]), ("pass", "optimizer.zero_grad()", [])],
)
def test_callers_may_drop_gradients_behind_the_call(before: str, behind: str, found: list[str]) -> None:
    assert rules(SECOND_ORDER.format(before=before, behind=behind)) == found


RECORD_OF_STATE = """
    import torch
    def train(net, memory, stream, optimizer):
        for x in stream:
            out, memory = net(x, memory)
            {cut}
            loss = (out - x).square().mean()
            loss.backward(retain_graph=True)
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("cut", "found"), [("pass", ["TN105"]), ("memory = memory._replace(keys=memory.keys.detach())", [])]
)
def test_a_state_that_is_made_anew_of_its_detached_parts_is_cut(cut: str, found: list[str]) -> None:
    assert rules(RECORD_OF_STATE.format(cut=cut)) == found


TEMPLATE = """
    import torch
    from torch import nn
    METRICS = {{}}
    def register(name):
        def put(cls):
            METRICS[name] = cls
            return cls
        return put
    class Base:
        def __init__(self):
            self.rows = []
        def update(self, scores, labels):
            self.rows.append(self.score(scores, labels))
        def score(self, scores, labels):
            raise NotImplementedError
    @register("margin")
    class Margin(Base):
        def score(self, scores, labels):
            return {given_back}
    def train(model, loader, optimizer):
        metrics = [METRICS[each]() for each in ("margin",)]
        for x, y in loader:
            scores = model(x)
            nn.functional.cross_entropy(scores, y).backward()
            optimizer.step()
            for metric in metrics:
                metric.update(scores, y)
"""


@pytest.mark.parametrize(
    ("given_back", "found"),
    [("scores.mean(1)", ["TN107"]), ("scores.mean(1).tolist()", [])],
)
def test_a_method_may_be_one_of_a_class_below(given_back: str, found: list[str]) -> None:
    assert rules(TEMPLATE.format(given_back=given_back)) == found


PAYLOAD = """
    import torch
    class Bus:
        def __init__(self):
            self.listeners = {{}}
        def on(self, event, function):
            self.listeners.setdefault(event, []).append(function)
        def emit(self, event, **payload):
            for function in self.listeners.get(event, []):
                function(**payload)
    class Audit:
        def __init__(self, bus):
            self.trail = []
            bus.on("batch", self.note)
        def note(self, *, inputs, loss):
            self.trail.append({kept})
    def train(model, loader, optimizer):
        bus = Bus()
        audit = Audit(bus)
        for x in loader:
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            bus.emit("batch", inputs=x, loss=loss.item())
"""


@pytest.mark.parametrize(
    ("kept", "found"), [("{'inputs': inputs}", ["TN202"]), ("{'rows': len(inputs), 'loss': loss}", [])]
)
def test_named_arguments_that_are_handed_on_keep_their_names(kept: str, found: list[str]) -> None:
    assert rules(PAYLOAD.format(kept=kept)) == found


CHAIN = """
    import torch
    class Snapshot:
        def __init__(self, weights, previous):
            self.weights = weights
            self.previous = {previous}
    class History:
        def __init__(self):
            self.head = None
        def take(self, model):
            weights = {{name: each.detach().clone() for name, each in model.state_dict().items()}}
            self.head = Snapshot(weights, self.head)
            {behind}
    def train(model, loader, optimizer):
        history = History()
        for x in loader:
            model(x).mean().backward()
            optimizer.step()
            history.take(model)
"""


@pytest.mark.parametrize(
    ("previous", "behind", "found"),
    [("previous", "pass", [("TN202", 6)]), ("None", "pass", []), ("previous", "self.head.previous = None", [])],
)
def test_objects_that_keep_the_one_before_are_a_chain(previous: str, behind: str, found: list[tuple[str, int]]) -> None:
    assert told(CHAIN.format(previous=previous, behind=behind)) == found


GIVEN_BACK = """
    import torch
    class Recorder:
        def __init__(self):
            self.streams = {{}}
        def stream(self, name):
            if name not in self.streams:
                self.streams[name] = []
            return self.streams[name]
    def record(recorder, value):
        recorder.stream("gradients").append({kept})
    def train(model, loader, optimizer):
        recorder = Recorder()
        for x in loader:
            model(x).mean().backward()
            record(recorder, [each.grad.clone() for each in model.parameters()])
            optimizer.step()
"""


@pytest.mark.parametrize(("kept", "found"), [("value", ["TN202"]), ("len(value)", [])])
def test_a_method_gives_back_the_container_that_is_filled(kept: str, found: list[str]) -> None:
    assert rules(GIVEN_BACK.format(kept=kept)) == found


DISPATCHED = """
    from functools import singledispatch
    import torch
    SINK = []
    @singledispatch
    def log(value):
        print(value)
    @log.register
    def _(value: torch.Tensor):
        {kept}
    def train(model, loader, optimizer):
        for x in loader:
            loss = model(x).mean()
            loss.backward()
            optimizer.step()
            log(x)
"""


@pytest.mark.parametrize(
    ("kept", "found"), [("SINK.append(value.detach().cpu())", ["TN202"]), ("print(value.norm().item())", [])]
)
def test_what_is_registered_for_a_type_runs_where_the_function_is_called(kept: str, found: list[str]) -> None:
    assert rules(DISPATCHED.format(kept=kept)) == found


SMOOTHED = """
    import torch
    from torch import nn
    def make_smoother(rate):
        value = None
        def smooth(new):
            nonlocal value
            value = new if value is None else rate * value + (1 - rate) * {added}
            return value
        return smooth
    def train(model, loader, optimizer):
        smooth = make_smoother(0.9)
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            print(float(smooth({given})))
"""


@pytest.mark.parametrize(
    ("added", "given", "found"), [("new", "loss", ["TN101"]), ("new", "loss.detach()", []), ("0.5", "loss", [])]
)
def test_a_variable_around_a_closure_adds_up(added: str, given: str, found: list[str]) -> None:
    assert rules(SMOOTHED.format(added=added, given=given)) == found


RAISED = """
    import torch
    class BadBatch({base}):
        seen = []
        def __init__(self, message):
            super().__init__(message)
            BadBatch.seen.append({kept})
    def train(model, loader):
        for x in loader:
            try:
                if model(x).isnan().any():
                    raise BadBatch("nan")
            except BadBatch:
                continue
"""


@pytest.mark.parametrize(
    ("base", "kept", "found"),
    [("ValueError", "self", ["TN302"]), ("ValueError", "message", []), ("Note", "self", [])],
)
def test_an_exception_that_enters_itself_into_a_list_keeps_its_frames(base: str, kept: str, found: list[str]) -> None:
    assert rules(RAISED.format(base=base, kept=kept)) == found


@pytest.mark.parametrize(
    ("flag", "behind", "found"),
    [("store_true", "pass", ["TN104"]), ("store_true", "optimizer.zero_grad()", []), ("count", "pass", [])],
)
def test_a_flag_of_the_command_line_may_be_set(flag: str, behind: str, found: list[str]) -> None:
    program = f"""
        import argparse
        import torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--second-order", action="{flag}")
        args = parser.parse_args()
        def step(model, optimizer, x):
            loss = model(x).square().mean()
            loss.backward(create_graph=args.second_order)
            optimizer.step()
            {behind}
    """
    assert rules(program) == found


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ("tuple(map(torch.detach, state))", []),
        ("tuple(map(lambda each: each.detach(), state))", []),
        ("tuple(map(torch.sigmoid, state))", ["TN105", "TN107"]),
    ],
)
def test_what_is_detached_one_by_one_has_no_graph(kept: str, found: list[str]) -> None:
    program = f"""
        import torch
        class Worker:
            def __init__(self, policy):
                self.policy, self.state = policy, (torch.zeros(1, 8), torch.zeros(1, 8))
            def act(self, x):
                out, state = self.policy(x, self.state)
                self.state = {kept}
                return out.argmax()
        def main(policy, optimizer, stream):
            worker = Worker(policy)
            for x in stream:
                worker.act(x)
                policy(x, None)[0].mean().backward()
                optimizer.step()
    """
    assert rules(program) == found


@pytest.mark.parametrize(("removed", "found"), [("pass", ["TN303"]), ("steering.hook.remove()", [])])
def test_an_object_of_each_request_leaves_its_hook(removed: str, found: list[str]) -> None:
    program = f"""
        import torch
        class Steering:
            def __init__(self, model, vector):
                self.vector = vector
                self.hook = model.layers[-1].register_forward_hook(self.steer)
            def steer(self, module, given, out):
                return out + self.vector
        def serve(model, requests):
            for x, vector in requests:
                steering = Steering(model, vector)
                print(model(x).argmax())
                {removed}
    """
    assert rules(program) == found


FLUENT = """
    import torch
    from torch import nn
    class Card:
        def __init__(self):
            self.marks = {{}}
        def mark(self, name, value):
            self.marks[name] = value
            return self
    class School:
        def __init__(self, net):
            self.net, self.cards = net, []
        def exam(self, papers):
            for paper in papers:
                answer = self.net(paper)
                self.cards.append(Card().mark("answer", {answer}).mark("size", len(paper)))
    def main(batches, optimizer):
        net = nn.Linear(8, 8)
        school = School(net)
        for x in batches:
            net(x).mean().backward()
            optimizer.step()
            school.exam(x)
"""


@pytest.mark.parametrize(("answer", "found"), [("answer", ["TN107"]), ("answer.argmax().item()", [])])
def test_an_object_that_gives_itself_back_has_what_it_was_given(answer: str, found: list[str]) -> None:
    assert rules(FLUENT.format(answer=answer)) == found


@pytest.mark.parametrize(("why", "found"), [("why", ["TN302"]), ("str(why)", []), ("f'{why}'", []), ("why.args", [])])
def test_an_object_keeps_an_error_where_it_stores_more_than_its_text(why: str, found: list[str]) -> None:
    program = f"""
        import torch
        class Failure:
            def __init__(self, why):
                self.why = {why}
        class Pipeline:
            def __init__(self, stage):
                self.stage, self.failures = stage, []
            def run(self, batch):
                try:
                    return self.stage(batch)
                except RuntimeError as problem:
                    self.failures.append(Failure(problem))
    """
    assert rules(program) == found


@pytest.mark.parametrize(("kept", "found"), [("future", ["TN302"]), ("future.done()", [])])
def test_what_is_called_with_a_future_has_its_error(kept: str, found: list[str]) -> None:
    program = f"""
        import torch
        class Board:
            def __init__(self):
                self.results = {{}}
            def finish(self, number):
                def done(future):
                    self.results[number] = {kept}
                return done
        def main(pool, net, batches):
            board = Board()
            for number, x in enumerate(batches):
                pool.submit(net, x).add_done_callback(board.finish(number))
            print([each.exception() for each in board.results.values()])
    """
    assert rules(program) == found


@pytest.mark.parametrize(("start", "found"), [("pass", []), ("self.round += 1", ["TN202"])])
def test_a_list_of_each_round_empties_none_before_it(start: str, found: list[str]) -> None:
    program = f"""
        import torch
        class Store:
            def __init__(self):
                self.rows, self.round = {{}}, 0
            def begin(self):
                {start}
                self.rows[self.round] = []
            def put(self, row):
                self.rows[self.round].append(row)
        @torch.no_grad()
        def sample(policy, x):
            return policy(x)
        def train(policy, loader):
            store = Store()
            for x in loader:
                store.begin()
                store.put(sample(policy, x))
    """
    assert rules(program) == found


@pytest.mark.parametrize(
    ("before", "behind", "found"), [("x.grad = None", "pass", ["TN104"]), ("pass", "x.grad = None", [])]
)
def test_a_gradient_that_is_dropped_before_is_there_behind(before: str, behind: str, found: list[str]) -> None:
    program = f"""
        import torch
        def loss_of(net, x):
            {before}
            net(x).sum().backward(create_graph=True)
            loss = x.grad.square().mean()
            {behind}
            return loss
    """
    assert rules(program) == found


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ('setattr(self, f"row_{step}", row)', ["TN202"]),
        ('self.register_buffer(f"row_{step}", row)', ["TN202"]),
        ('setattr(self, "row", row)', []),
        ('setattr(self, f"row_{self.kind}", row)', []),
        ('setattr(self, f"row_{self.kind}", row[0])', []),
        ('setattr(self, f"row_{step}", row.mean().item())', []),
    ],
)
def test_attributes_with_counted_names_pile_up(call: str, found: list[str]) -> None:
    program = f"""
        import torch
        from torch import nn
        class Bank(nn.Module):
            kind = "a"
            def put(self, step, row):
                {call}
        def main(net, optimizer, loader):
            bank = Bank()
            for step, x in enumerate(loader):
                net(x).mean().backward()
                optimizer.step()
                bank.put(step, x.detach().clone())
    """
    assert rules(program) == found


@pytest.mark.parametrize(
    ("memory", "loss", "found"),
    [
        ("net.mix(memory, net(x))", "net(x)", ["TN105"]),
        ("net.mix(memory, net(x)).detach()", "net(x)", []),
        ("net.mix(memory, net(x))", "net.mix(memory, x)", []),
    ],
)
def test_a_state_that_no_backward_pass_goes_through_is_chained(memory: str, loss: str, found: list[str]) -> None:
    program = f"""
        import torch
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(8, 8)
            def forward(self, x):
                return self.lin(x)
            def mix(self, memory, z):
                return 0.9 * memory + self.lin(z)
        def main(optimizer, loader):
            net, memory = Net(), torch.zeros(8)
            for x in loader:
                loss = ({loss} - x).square().mean()
                loss.backward()
                optimizer.step()
                memory = {memory}
    """
    assert rules(program) == found
