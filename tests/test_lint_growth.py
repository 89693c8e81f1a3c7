"""What source shows of what grows: containers that nothing empties, states, caches, stored errors, hooks, ctx."""

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


HISTORY = """
    import torch
    from collections import defaultdict, deque
    class History:
        def __init__(self):
            self.rows = {start}
            self.step = 0
        def put(self, name, value):
            self.step += 1
            {statement}
        def flush(self):
            {flush}
    def train(model, criterion, optimizer, loader):
        history = History()
        for batch, labels in loader:
            output = model(batch)
            loss = criterion(output, labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            history.put("loss", {given})
"""


@pytest.mark.parametrize(
    ("start", "statement", "flush", "given", "found"),
    [
        ("[]", "self.rows.append(value)", "pass", "output", ["TN107"]),
        ("[]", "self.rows.append(value)", "pass", "output.detach()", ["TN202"]),
        ("[]", "self.rows.append(value)", "pass", "output.detach().tolist()", []),
        ("[]", "self.rows.append(value)", "pass", "3", []),
        ("[]", "self.rows.append(value)", "self.rows.clear()", "output.detach()", []),
        ("[]", "self.rows.append(value)", "self.rows = []", "output.detach()", []),
        ("[]", "self.rows.append(value)", "del self.rows[:-8]", "output.detach()", []),
        ("deque(maxlen=8)", "self.rows.append(value)", "pass", "output.detach()", []),
        ("deque()", "self.rows.append(value)", "pass", "output.detach()", ["TN202"]),
        ("[]", "self.rows.append(value.detach())", "pass", "output", ["TN202"]),
        ("[]", "self.rows.append(value[0])", "pass", "output.detach()", ["TN204"]),
        ("[]", "self.rows.append(value[0].clone())", "pass", "output.detach()", ["TN202"]),
        ("[]", "self.rows.append(value.mean())", "pass", "output.detach()", ["TN201"]),
        ("[]", "self.rows.append((name, value))", "pass", "output.detach()", ["TN202"]),
        ("[]", "self.rows += [value]", "pass", "output.detach()", ["TN202"]),
        ("[]", "self.rows.extend(value)", "pass", "output.detach()", ["TN202"]),
        ("defaultdict(list)", "self.rows[name].append(value)", "pass", "output.detach()", ["TN202"]),
        ("{}", "self.rows.setdefault(name, []).append(value)", "pass", "output.detach()", ["TN202"]),
        ("{}", "self.rows[self.step] = value", "pass", "output.detach()", ["TN202"]),
        ("{}", "self.rows[name] = value", "pass", "output.detach()", []),
        ("[]", "len(self.rows) < 8 and self.rows.append(value)", "pass", "output.detach()", ["TN202"]),
        ("[]", "self.rows.append(value) if len(self.rows) < 8 else None", "pass", "output.detach()", []),
    ],
)
def test_what_an_object_gains_each_step_is_told_where_nothing_empties_it(
    start: str, statement: str, flush: str, given: str, found: list[str]
) -> None:
    program = HISTORY.format(start=start, statement=statement, flush=flush, given=given)

    assert told(program) == [(rule, 10) for rule in found]


@pytest.mark.parametrize(
    ("test", "key", "found"),
    [
        ("if key not in self.known", "points.data_ptr()", [("TN203", 9)]),
        ("if key not in self.known", "tuple(points.shape)", [("TN203", 9)]),
        ("if self.known.get(key) is None", "(points.size(0), 3)", [("TN203", 9)]),
        ("if key not in self.known", "bucket(points.size(0))", [("TN203", 9)]),
        ("if key not in self.known", "'only'", []),
        ("if len(self.known) < 9 and key not in self.known", "points.data_ptr()", []),
    ],
)
def test_a_table_by_keys_that_are_others_again_and_again_is_told(test: str, key: str, found: list[object]) -> None:
    program = f"""
        import torch
        class Neighbours(torch.nn.Module):
            def __init__(self):
                self.known = {{}}
            def forward(self, points):
                key = {key}
                {test}:
                    self.known[key] = torch.cdist(points, points)
                return self.known[key]
    """

    assert told(program) == found


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("self.usage = 0.9 * self.usage + 0.1 * hidden.mean(0)", ["TN105"]),
        ("self.usage = torch.lerp(self.usage, hidden.mean(0), 0.1)", ["TN105"]),
        ("self.usage = hidden if self.usage is None else self.usage + hidden", ["TN105"]),
        ("self.usage = self.blend(hidden)", ["TN105"]),
        ("self.usage = 0.9 * self.usage + 0.1 * hidden.detach().mean(0)", []),
        ("self.usage = torch.lerp(self.usage, hidden.detach().mean(0), 0.1)", []),
        ("with torch.no_grad(): self.usage = torch.lerp(self.usage, hidden.mean(0), 0.1)", []),
        ("self.usage = hidden.mean(0)", []),
        ("made = self.pack(hidden); made.usage = 0.9 * made.usage + hidden", []),
    ],
)
def test_a_state_of_a_module_that_leads_to_its_last_value_by_its_graph_is_told(
    statement: str, found: list[str]
) -> None:
    program = f"""
        import torch
        from torch import nn
        class Stream(nn.Module):
            def __init__(self):
                self.cell = nn.GRU(8, 8)
                self.register_buffer("usage", torch.zeros(8))
            def blend(self, hidden):
                return 0.9 * self.usage + hidden
            def forward(self, ids):
                hidden = self.cell(ids)
                {statement}
                return hidden
        def train(optimizer, batches):
            model = Stream()
            for batch in batches:
                model(batch).mean().backward()
                optimizer.step()
    """

    assert told(program) == [(rule, 12) for rule in found]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("self.error = error", ["TN302"]),
        ("self.errors.append(error)", ["TN302"]),
        ("self.errors.append((3, error))", ["TN302"]),
        ("self.keep(error)", []),
        ("self.error = str(error)", []),
        ("self.error = error.with_traceback(None)", []),
        ("self.error = RuntimeError(str(error))", []),
        ("raise ValueError from error", []),
    ],
)
def test_an_exception_that_an_object_keeps_is_told(statement: str, found: list[str]) -> None:
    program = f"""
        import torch
        class Runner:
            def run(self, model, batch):
                try:
                    return model(batch)
                except RuntimeError as error:
                    {statement}
    """

    assert told(program) == [(rule, 8) for rule in found]


def test_an_exception_that_a_function_is_given_and_keeps_is_told_where_it_is_kept() -> None:
    program = """
        import torch
        class Trail:
            def add(self, level, error):
                self.last = (level, error)
        def run(model, batch, trail):
            try:
                return model(batch)
            except RuntimeError as error:
                trail.add(1, error)
    """

    assert told(program) == [("TN302", 5)]


@pytest.mark.parametrize(
    ("in_loop", "afterwards", "found"),
    [(True, "raise last", [("TN302", 8)]), (True, "return None", []), (False, "raise last", [])],
)
def test_an_exception_that_is_raised_again_after_a_loop_holds_its_own_frame(
    in_loop: bool, afterwards: str, found: list[object]
) -> None:
    program = f"""
        import torch
        def run(model, batch):
            {"for _ in range(3):" if in_loop else "if True:"}
                try:
                    return model(batch)
                except RuntimeError as error:
                    last = error
            {afterwards}
    """

    assert told(program) == found


@pytest.mark.parametrize(
    ("decorator", "signature", "result", "found"),
    [
        ("lru_cache(maxsize=None)", "days, width", "torch.tensor(days)", ["TN205"]),
        ("lru_cache(maxsize=4)", "days, width", "torch.tensor(days)", []),
        ("lru_cache", "days, width", "torch.tensor(days)", []),
        ("lru_cache", "model, width", "torch.tensor(width)", ["TN205"]),
        ("lru_cache(maxsize=None)", "days, width", "days * width", []),
        ("cache", "model", "sum(1 for _ in model.parameters())", ["TN205"]),
        ("cache", "labels", "labels[:, None] == labels[None]", ["TN205"]),
        ("cache", "", "torch.ones(3)", []),
    ],
)
def test_a_cached_function_is_told_where_it_keeps_tensors_or_modules(
    decorator: str, signature: str, result: str, found: list[str]
) -> None:
    program = f"""
        import torch
        from functools import cache, lru_cache
        @{decorator}
        def encode({signature}):
            return {result}
    """

    assert told(program) == [(rule, 5) for rule in found]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("ctx.cells = cells", ["TN103"]),
        ("ctx.decay, ctx.cells = x, cells", ["TN103"]),
        ("ctx.cache = x.shape, cells", ["TN103"]),
        ("ctx.shape = x.shape", []),
        ("ctx.x = x", []),
        ("ctx.save_for_backward(cells)", []),
    ],
)
def test_a_tensor_that_a_custom_function_computes_and_sets_on_ctx_is_told(statement: str, found: list[str]) -> None:
    program = f"""
        import torch
        class Scan(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                cells = torch.cumsum(x, 0)
                {statement}
                return cells.clone()
    """

    assert told(program) == [(rule, 7) for rule in found]


def test_a_value_with_its_graph_that_another_object_gathers_is_told_there() -> None:
    program = """
        import torch
        class Report:
            def __init__(self):
                self.rows = []
            def add(self, row):
                self.rows.append(row)
        class Trainer:
            def __init__(self, model, report):
                self.model, self.report = model, report
            def step(self, batch):
                output = self.model(batch)
                output.mean().backward()
                self.report.add({})
        def train(trainer, batches):
            for batch in batches:
                trainer.step(batch)
    """

    assert told(program.format("output")) == [("TN107", 7)]
    assert told(program.format("output.argmax()")) == [("TN202", 7)]
    assert told(program.format("output.mean().item()")) == []


def test_what_a_forward_hook_puts_into_a_list_around_it_is_told() -> None:
    program = """
        import torch
        def watch(layer):
            seen = []
            def look(module, args, output):
                seen.append({})
            {}layer.register_forward_hook(look)
            return seen
    """

    assert told(program.format("output", "")) == [("TN107", 6)]
    assert told(program.format("output.mean().item()", "")) == []


def test_an_error_of_an_import_that_is_kept_is_nobodys_leak() -> None:
    assert (
        told("""
        import torch
        class Fused:
            def __init__(self):
                try:
                    import fused
                except ImportError as error:
                    self.error = error
        """)
        == []
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from torch.cuda.amp import autocast", [("TN505", 1)]),
        ("import torch\ndef f():\n    from torch.cuda import amp", [("TN505", 3)]),
        ("try:\n    from torch.amp import autocast\nexcept ImportError:\n    from torch.cuda.amp import autocast", []),
        ("import torch\nif old:\n    from torch.cuda.amp import GradScaler", []),
    ],
)
def test_an_import_of_older_names_is_told_but_where_a_version_chooses(text: str, found: list[tuple[str, int]]) -> None:
    assert told(text) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("torch.cuda.empty_cache()", ["TN501"]),
        ("if step % 100 == 0: torch.cuda.empty_cache()", []),
        ("mask = torch.zeros(3).to(device)", ["TN503"]),
        ("mask = torch.zeros(3).to(torch.bfloat16)", []),
        ("mask = torch.zeros(3, device=device)", []),
        ("noise = torch.randn(3, generator=source).to(device)", []),
        ("net = torch.nn.DataParallel(model)", ["TN406"]),
        ("optimizer.zero_grad(set_to_none=False)", ["TN407"]),
        ("optimizer.zero_grad(set_to_none=True)", []),
        ("cache.setdefault(step, torch.zeros(3))", ["TN206"]),
        ("cache.setdefault(step, [])", []),
        ("scaler = torch.cuda.amp.GradScaler()", ["TN505"]),
        ("scaler = torch.amp.GradScaler('cuda')", []),
    ],
)
def test_what_a_step_does_for_nothing_is_told(body: str, found: list[str]) -> None:
    program = f"""
        import torch
        def train(model, optimizer, batches, device, cache, source):
            for step, batch in enumerate(batches):
                model(batch).mean().backward()
                optimizer.step()
                {body}
    """

    assert told(program) == [(rule, 7) for rule in found]


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("Net()", ["TN206"]),
        ("nets.Deeper()", ["TN206"]),
        ("Buffer(3)", ["TN206"]),
        ("Meter()", []),
        ("Unknown()", []),
        ("nets", []),
    ],
)
def test_a_default_is_told_where_the_programs_own_class_makes_tensors(made: str, found: list[str]) -> None:
    nets = """
        import torch
        from torch import nn
        class Net(nn.Module): pass
        class Deeper(Net): pass
        class Buffer:
            def __init__(self, size):
                self.rows = torch.zeros(size)
        class Meter:
            def __init__(self):
                self.total = 0
    """
    train = f"""
        import torch
        import nets
        from nets import Buffer, Meter, Net
        def look_up(table, name):
            return table.setdefault(name, {made})
    """
    sources = [SourceFile("nets.py", dedent(nets)), SourceFile("train.py", dedent(train))]
    findings, _ = lint_sources(sources)
    assert [each.rule for each in findings] == found


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ('self.mask = getattr(self, "mask", torch.zeros(3))', ["TN206"]),
        ('self.mask = getattr(self, "mask", neighbours(3))', ["TN206"]),
        ('self.mask = getattr(self, "mask", None)', []),
        ('self.mask = getattr(self, "other", torch.zeros(3))', []),
        ('mask = getattr(self, "mask", torch.zeros(3))', []),
    ],
)
def test_an_attribute_that_is_built_anew_for_its_own_default_is_told(statement: str, found: list[str]) -> None:
    program = f"""
        import torch
        def neighbours(side):
            return torch.arange(side)[:, None] - torch.arange(side)
        class Net(torch.nn.Module):
            def forward(self, x):
                {statement}
                return x
    """
    assert [rule for rule, _ in told(dedent(program))] == found


@pytest.mark.parametrize(
    ("first", "second", "third", "found"),
    [
        ("torch.cuda.empty_cache()", "gc.collect()", "pass", [("TN502", 4)]),
        ("torch.cuda.empty_cache()", "gc.collect()", "torch.cuda.empty_cache()", []),
        ("gc.collect()", "torch.cuda.empty_cache()", "pass", []),
    ],
)
def test_a_cache_that_is_emptied_before_the_collector_runs_is_told(
    first: str, second: str, third: str, found: list[object]
) -> None:
    assert told(f"import gc, torch\n\ndef free():\n    {first}\n    {second}\n    {third}\n") == found


@pytest.mark.parametrize(
    ("region", "afterwards", "found"),
    [
        ("if True", "pass", [("TN108", 7)]),
        ("with torch.no_grad()", "pass", []),
        ("if True", "model.train()", []),
        ("if True", "total.backward()", []),
    ],
)
def test_an_evaluation_with_autograd_on_is_told(region: str, afterwards: str, found: list[object]) -> None:
    program = f"""
        import torch
        def evaluate(model, batches, total=0):
            model.eval()
            {region}:
                for batch in batches:
                    total = model(batch).mean().item()
            {afterwards}
    """

    assert told(program) == found


@pytest.mark.parametrize(
    ("given", "afterwards", "found"),
    [("model", "gc.collect()", [("TN306", 4)]), ("model", "pass", []), ("make()", "gc.collect()", [])],
)
def test_a_deleted_parameter_that_the_caller_still_has_is_told(
    given: str, afterwards: str, found: list[object]
) -> None:
    program = f"""
        import gc, torch
        def release(module):
            del module
            {afterwards}
        def main(model, make):
            release({given})
    """

    assert told(program) == found
