"""The short form of benchmarks/lint_ways.py: what is composed is whole, and some of it is judged; and look-alikes of
what was learnt from it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tenure.lint import lint_sources
from tenure.model.source import SourceFile

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import lint_ways

    return lint_ways


def rules(text: str) -> list[str]:
    """What is found in one file."""
    findings, failures = lint_sources([SourceFile("program.py", dedent(text))])
    assert failures == ()
    return [each.rule for each in findings]


def test_every_way_has_a_name_of_its_own_and_takes_part(script: Any) -> None:
    parts = [*script.read_arrivals_and_loops(), script.read_keeps(), script.read_keeps("lint_causes.txt")]
    names = [Counter(part.name for part in dimension) for dimension in parts]
    made = list(script.compose())
    used = [{getattr(each, part).name for each in made} for part in ("arrival", "loop", "keep")]

    assert [name for dimension in names for name, count in dimension.items() if count > 1] == []
    used.append({each.keep.name for each in script.compose_causes()})
    assert used == [set(dimension) for dimension in names]


@pytest.mark.parametrize("loop", ["for", "function called by a loop", "trainer's method"])
@pytest.mark.parametrize(
    "cause",
    [
        *("TN105 global state", "TN105 local lstm state", "TN302 dict by step", "TN103 by setattr"),
        *("TN103 dict on ctx", "TN402 loaded into a new module"),
    ],
)
def test_a_way_that_one_rule_has_alone_is_told_in_every_loop(script: Any, cause: str, loop: str) -> None:
    (made,) = (each for each in script.compose_causes() if (each.keep.name, each.loop.name) == (cause, loop))

    assert made.is_told()


@pytest.mark.parametrize("kind", ["outputs", "loss", "features"])
@pytest.mark.parametrize(
    ("arrival", "keep", "loop"),
    [
        ("module global", "global list", "function called by a loop"),
        ("nonlocal", "attribute list", "trainer's method"),
        ("class attribute", "global list", "function called by a loop"),
        ("thread local", "attribute list", "trainer's method"),
        ("context variable", "global list", "trainer's method"),
        ("attribute set from outside", "attribute list", "function called by a loop"),
        ("list passed in", "global list", "trainer's method"),
        ("setattr then getattr", "attribute list", "trainer's method"),
        ("vars", "global list", "function called by a loop"),
        ("reduce", "global list", "trainer's method"),
        ("future", "attribute list", "function called by a loop"),
        ("asyncio", "global list", "trainer's method"),
        ("lambda", "attribute list", "trainer's method"),
        ("context manager class", "attribute list", "function called by a loop"),
        ("helper's return", "list rebinding", "function called by a loop"),
        ("helper's return", "dict merge", "trainer's method"),
        ("helper's return", "dict or", "function called by a loop"),
        ("direct", "global list", "recursion"),
        ("direct", "attribute list", "scheduled again by itself"),
        ("direct", "global list", "ignite process function"),
        ("direct", "attribute list", "lambda that a loop calls"),
        ("direct", "global list", "map"),
        ("direct", "global list", "reduce"),
        ("direct", "attribute list", "iterator class"),
        ("direct", "global list", "request handler"),
        ("direct", "attribute list", "optimizer's closure"),
    ],
)
def test_a_leak_of_three_ways_is_told_and_its_numbers_are_not(
    script: Any, kind: str, arrival: str, keep: str, loop: str
) -> None:
    arrivals, loops = script.read_arrivals_and_loops()
    chosen = (
        next(each for each in dimension if each.name == name)
        for dimension, name in ((arrivals, arrival), (script.read_keeps(), keep), (loops, loop))
    )
    made = script.Made(kind, *chosen)

    assert (made.is_told(), made.told_wrongly()) == (True, [])


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("row = Row()\n    fill(row, net, x)\n    ROWS.append(row.out)", ["TN107"]),
        ("row = Row()\n    fill(row, net, x)\n    ROWS.append(row.size)", []),
        ("global LAST\n    LAST = net(x)\n    ROWS.append(LAST)", ["TN107"]),
        ("global LAST\n    LAST = net(x).sum().item()\n    ROWS.append(LAST)", []),
        ("global ROWS\n    ROWS = ROWS + [net(x)]", ["TN107"]),
        ("global ROWS\n    ROWS = [net(x)]", []),
        ("size = lambda x: x.shape[0]\n    ROWS.append(size(net(x)))", []),
        ("with torch.no_grad() as mode:\n        ROWS.append(mode)", []),
    ],
)
def test_what_functions_share_is_what_any_of_them_makes_of_it(step: str, found: list[str]) -> None:
    text = f"""
import torch
from torch import nn
ROWS, LAST = [], None
class Row:
    pass
def fill(row, net, x):
    row.out = net(x)
    row.size = x.shape[0]
def advance(net, x):
    {step}
def main(loader):
    net = nn.Linear(8, 8)
    for x in loader:
        advance(net, x)
"""
    assert rules(text) == found


@pytest.mark.parametrize(
    ("reset", "found"),
    [("print(len(ROWS))", ["TN107"]), ("global ROWS\n    ROWS = []", []), ("global ROWS\n    ROWS = [ROWS[-1]]", [])],
)
def test_a_global_list_that_a_function_binds_anew_is_emptied(reset: str, found: list[str]) -> None:
    text = f"""
import torch
from torch import nn
ROWS = []
def advance(net, x):
    ROWS.append(net(x))
def report():
    {reset}
def main(loader):
    net = nn.Linear(8, 8)
    for x in loader:
        advance(net, x)
        report()
"""
    assert rules(text) == found


@pytest.mark.parametrize(
    ("again", "found"),
    [
        ("if depth < 9:\n        visit(module, x, depth + 1)", []),
        ("if depth < 9:\n        visit(module, x, step + 1)", ["TN107"]),
        ("threading.Timer(1.0, visit, (module, x)).start()", ["TN107"]),
    ],
)
def test_a_function_that_starts_itself_for_its_next_step_runs_again_but_none_that_goes_down_a_tree(
    again: str, found: list[str]
) -> None:
    text = f"""
import threading
import torch
from torch import nn
ROWS = []
def visit(module, x, depth=0, step=0):
    out = module(x)
    ROWS.append(out)
    {again}
visit(nn.Linear(8, 8), torch.zeros(8))
"""
    assert rules(text) == found


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ("print(len(outputs))", ["TN107"]),
        ("return outputs", []),
        ("return torch.stack(outputs).mean()", []),
        ("torch.stack(outputs).mean().backward()", []),
    ],
)
def test_what_a_loop_gathers_from_others_is_kept_unless_it_is_wanted(after: str, found: list[str]) -> None:
    text = f"""
import torch
from torch import nn
class Runner:
    def __init__(self, net):
        self.net = net
        self.out = None
    def run(self, x):
        self.out = self.net(x)
def main(loader):
    runner = Runner(nn.Linear(8, 8))
    outputs = []
    for x in loader:
        runner.run(x)
        outputs.append(runner.out)
    {after}
"""
    assert rules(text) == found


@pytest.mark.parametrize(
    ("cell", "found"),
    [("CELL(x, HIDDEN)", ["TN105"]), ("CELL(x, HIDDEN.detach())", []), ("CELL(x, HIDDEN).detach()", [])],
)
@pytest.mark.parametrize(("reset", "resets"), [("print(len(HIDDEN))", False), ("HIDDEN = torch.zeros(4, 8)", True)])
def test_a_state_of_the_file_is_carried_on_unless_a_function_sets_it_back(
    cell: str, found: list[str], reset: str, resets: bool
) -> None:
    text = f"""
import torch
from torch import nn
CELL = nn.GRUCell(8, 8)
HIDDEN = torch.zeros(4, 8)
def run(x):
    global HIDDEN
    HIDDEN = {cell}
    return HIDDEN
def report():
    global HIDDEN
    {reset}
def main(loader):
    for x in loader:
        run(x).sum().backward(retain_graph=True)
        report()
"""
    assert rules(text) == ([] if resets else found)


@pytest.mark.parametrize(
    ("loaded", "found"),
    [
        ("player.load_state_dict(net.state_dict())", ["TN402"]),
        ("player.load_state_dict(torch.load('player.pt'))", []),
    ],
)
def test_a_module_that_is_given_the_parameters_of_another_is_a_copy(loaded: str, found: list[str]) -> None:
    text = f"""
import torch
from torch import nn
PLAYERS = []
def add(net):
    player = nn.Linear(8, 8)
    {loaded}
    PLAYERS.append(player)
def main(loader):
    net = nn.Linear(8, 8)
    for x in loader:
        net(x).sum().backward()
        add(net)
"""
    assert rules(text) == found


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("int((x > 0).sum())", ["TN203"]),
        ("lengths.max().item()", ["TN203"]),
        ("tuple(x[0].tolist())", ["TN203"]),
        ("' '.join(given)", ["TN203"]),
        ("given['id']", ["TN203"]),
        ("given.id", ["TN203"]),
        ("self.calls", ["TN203"]),
        ("self.level", []),
        ("given['task']", []),
        ("given.dtype", []),
        ("given.item()", []),
    ],
)
def test_a_key_is_another_one_each_time_where_data_or_a_counter_decides_it(key: str, found: list[str]) -> None:
    text = f"""
import torch
from torch import nn
class Tables(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.calls, self.level = {{}}, 0, 0
    def forward(self, x, lengths, given, **options):
        self.calls += 1
        self.level += 1
        key = {key}
        if key not in self.table:
            self.table[key] = torch.ones(4, 4)
        return self.table[key]
    def start(self):
        self.level = 0
"""
    assert rules(text) == found


@pytest.mark.parametrize(
    ("given", "found"), [("sigmas.tolist()", ["TN203"]), ("self.levels", []), ("range(len(sigmas))", [])]
)
def test_numbers_out_of_a_tensor_are_other_keys_each_time(given: str, found: list[str]) -> None:
    text = f"""
import torch
class Planes:
    def __init__(self, levels):
        self.levels, self.ready = levels, {{}}
    def plane(self, sigma):
        if sigma not in self.ready:
            self.ready[sigma] = torch.ones(8, 8)
        return self.ready[sigma]
    def __call__(self, sigmas):
        return [self.plane(each) for each in {given}]
"""
    assert rules(text) == found


@pytest.mark.parametrize(
    ("first", "then", "found"),
    [
        ("self.layer.register_forward_hook(lambda m, i, o: self.rows.append(o))", "pass", ["TN107"]),
        ("self.layer.register_forward_hook(lambda *given: self.rows.append(given[-1]))", "pass", ["TN107"]),
        ("self.layer.register_forward_hook(lambda m, i, o: self.rows.append(o.detach()))", "pass", ["TN202"]),
        ("self.layer.register_forward_hook(lambda m, i, o: self.rows.append(o.mean().item()))", "pass", []),
        ("self.layer.register_forward_hook(lambda m, i, o: self.rows.append(o.detach()))", "self.rows.clear()", []),
        ("self.layer.register_full_backward_hook(lambda m, i, o: self.rows.append(o[0]))", "pass", ["TN202"]),
        ("self.layer.register_full_backward_hook(lambda m, i, o: self.rows.append(o[0][:, :1]))", "pass", ["TN204"]),
        ("self.layer.weight.register_hook(lambda grad: self.rows.append(grad.clone()))", "pass", ["TN202"]),
        ("pass", "out.register_hook(self.rows.append)", ["TN202"]),
        ("pass", "out.register_hook(lambda grad: self.rows.append(grad.norm().item()))", []),
        ("print(lambda m, i, o: self.rows.append(o))", "pass", []),
    ],
)
def test_a_lambda_that_is_a_hook_runs_again_with_what_torch_gives_it(first: str, then: str, found: list[str]) -> None:
    text = f"""
import torch
from torch import nn
class Probe:
    def __init__(self, net):
        self.net, self.rows = net, []
        self.layer = net[0]
        {first}
    def run(self, x):
        out = self.net(x)
        {then}
        out.sum().backward()
        return out.sum().item()
def main(loader):
    probe = Probe(nn.Sequential(nn.Linear(8, 8)))
    for x in loader:
        print(probe.run(x))
"""
    assert rules(text) == found


@pytest.mark.parametrize(
    ("batches", "found"),
    [
        ("itertools.cycle(loader)", ["TN202"]),
        ("endless(loader)", ["TN202"]),
        ("itertools.cycle([0.1, 0.2])", []),
        ("itertools.cycle(names)", []),
        ("itertools.chain(loader)", []),
    ],
)
def test_a_loader_that_is_gone_through_again_and_again_by_cycle_is_kept_whole(batches: str, found: list[str]) -> None:
    text = f"""
import itertools
from itertools import cycle
import torch
from torch.utils.data import DataLoader
def endless(batches):
    return cycle(batches)
def main(data, names):
    loader = DataLoader(data, batch_size=8)
    for batch in {batches}:
        print(batch)
"""
    assert rules(text) == found


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ("list(map(made, xs))", ["TN107"]),
        ("list(map(counted, xs))", []),
        ("list(map(float, outs))", []),
        ("list(map(lambda out: out.item(), outs))", []),
        ("list(map(torch.Tensor.item, outs))", []),
        ("list(map(torch.detach, outs))", ["TN202"]),
        ("list(map(lambda out: out.detach(), outs))", ["TN202"]),
    ],
)
def test_map_gives_what_its_function_gives(kept: str, found: list[str]) -> None:
    text = f"""
import torch
from torch import nn
NET = nn.Linear(8, 8)
ROWS = []
def made(x):
    return NET(x)
def counted(x):
    return NET(x).sum().item()
def advance(xs):
    outs = [NET(x) for x in xs]
    ROWS.append({kept})
def main(loader):
    for xs in loader:
        advance(xs)
"""
    assert rules(text) == found


@pytest.mark.parametrize(("yielded", "found"), [("net(x)", ["TN107"]), ("net(x).sum().item()", []), ("x", ["TN202"])])
def test_a_loop_over_an_object_goes_through_what_it_yields(yielded: str, found: list[str]) -> None:
    text = f"""
import torch
from torch import nn
ROWS = []
class Outputs:
    def __init__(self, net, x):
        self.net, self.x = net, x
    def __iter__(self):
        net, x = self.net, self.x
        yield {yielded}
def advance(net, x):
    for out in Outputs(net, x):
        ROWS.append(out)
def main():
    net = nn.Linear(8, 8)
    for step in range(9):
        advance(net, torch.randn(8))
"""
    assert rules(text) == found
