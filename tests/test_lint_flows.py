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
