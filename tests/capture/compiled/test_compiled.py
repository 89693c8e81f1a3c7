from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.modules import module as torch_module

from capture.recorder import CensusLog, recording
from tenure.capture.heap.census import take_census
from tenure.capture.steps.stopping import StoppedAfterSteps
from tenure.model.heap import CALLED, CALLED_BY_ANY, Role
from tenure.model.recording import COMPILES
from tenure.store.recording_file import open_recording, read_census

# Dynamo itself calls what torch 2.13 deprecates.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")]

COMPILE: dict[str, Any] = {"backend": "eager"}


class Root(torch.nn.Module):
    """An eager model whose block is compiled, and called twice."""

    def __init__(self, block: torch.nn.Module) -> None:
        super().__init__()
        self.first, self.block = torch.nn.Linear(3, 3), block

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.block(self.block(self.first(inputs)))


def compiled_function(net: torch.nn.Module) -> Callable[..., Any]:
    return torch.compile(lambda inputs: net(inputs) * 2, **COMPILE)


def compiled_method(net: torch.nn.Module) -> Callable[..., Any]:
    net.compile(**COMPILE)
    return net


def compiled_block(net: torch.nn.Module) -> Callable[..., Any]:
    return Root(torch.compile(net, **COMPILE))


def block_compiled_in_place(net: torch.nn.Module) -> Callable[..., Any]:
    net.compile(**COMPILE)
    return Root(net)


SHAPES = (compiled_function, compiled_method, compiled_block, block_compiled_in_place)


def net_and_sgd() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(3)
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    return net, torch.optim.SGD(net.parameters(), lr=0.01)


@pytest.mark.parametrize("compiled", SHAPES)
def test_each_due_census_has_one_forward_entry_with_the_arguments_of_the_call(
    tmp_path: Path, compiled: Callable[..., Any]
) -> None:
    net, optimizer = net_and_sgd()
    model, log = compiled(net), CensusLog()
    batches = [torch.ones(2, 3) for _ in range(5)]
    with recording(tmp_path, log, census_at=(1, 3)):
        for batch in batches:
            model(batch).sum().backward()
            optimizer.step()

    assert log.calls == [(1, "step-end"), (1, "forward-entry"), (3, "step-end"), (3, "forward-entry")]
    assert [inputs[0][0] is batch for inputs, batch in zip(log.inputs[1::2], batches[1::2], strict=False)] == [True] * 2
    assert not torch_module._global_forward_pre_hooks


@pytest.mark.parametrize("compiled", SHAPES)
def test_dynamo_counts_and_results_are_the_same_with_and_without(tmp_path: Path, compiled: Callable[..., Any]) -> None:
    def train() -> tuple[list[float], dict[str, dict[str, int]]]:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        net, optimizer = net_and_sgd()
        model, losses = compiled(net), []
        for step in range(8):
            loss = model(torch.ones(4 if step % 3 else 2, 3)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        wanted = ("stats", "frames", "graph_break", "recompiles", "unimplemented")
        return losses, {name: dict(torch._dynamo.utils.counters[name]) for name in wanted}

    # A process's first compilation counts frames that later ones find done.
    train()
    without = train()
    with recording(tmp_path) as monitor:
        recorded = train()

    assert recorded == without
    assert monitor.step == 8


def test_of_a_program_that_compiles_only_calls_by_the_program_are_marked(tmp_path: Path) -> None:
    net, optimizer = net_and_sgd()
    call = compiled_block(net)
    with recording(tmp_path, take_census, census_at=(2,)):
        for _ in range(2):
            call(torch.ones(2, 3)).sum().backward()
            optimizer.step()

    opened = open_recording(tmp_path)
    flags = [flag for entry in opened.censuses for flag in read_census(opened, entry).nodes.flags.tolist()]
    assert {flag & (CALLED | CALLED_BY_ANY) for flag in flags} == {0, CALLED}
    assert [note.text for note in opened.notes] == [COMPILES]


def test_the_batch_of_a_compiled_function_is_an_input_in_its_census(tmp_path: Path) -> None:
    net, optimizer = net_and_sgd()
    model = compiled_function(net)
    with recording(tmp_path, take_census, census_at=(2,)):
        for _ in range(3):
            batch = torch.ones(1234, 3)
            model(batch).sum().backward()
            optimizer.step()

    opened = open_recording(tmp_path)
    entry = read_census(opened, opened.censuses[-1])
    storages = entry.storages
    roles = {
        Role(role)
        for role, size, views in zip(
            storages.role.tolist(), storages.bytes.tolist(), storages.num_views.tolist(), strict=True
        )
        if size == batch.nbytes and views
    }
    assert (entry.moment, roles) == ("forward-entry", {Role.INPUT})


def test_a_compiled_training_step_has_a_step_for_each_call_and_an_entry_where_it_begins(tmp_path: Path) -> None:
    net, optimizer = net_and_sgd()

    @torch.compile(**COMPILE)
    def train_step(batch: torch.Tensor, *, scale: float) -> torch.Tensor:
        loss = net(batch).sum() * scale
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    log, batch = CensusLog(), torch.ones(2, 3)
    with recording(tmp_path, log, census_at=(2,)) as monitor:
        for _ in range(5):
            train_step(batch, scale=2.0)

    assert monitor.step == 5
    assert log.calls == [(2, "step-end"), (2, "forward-entry")]
    args, kwargs = log.inputs[1]  # type: ignore[misc]
    assert args[0] is batch
    assert kwargs == {"scale": 2.0}


def test_a_compiled_optimizer_step_is_a_step_and_no_forward(tmp_path: Path) -> None:
    net, optimizer = net_and_sgd()
    step, log = torch.compile(optimizer.step, **COMPILE), CensusLog()
    with recording(tmp_path, log, census_at=(1, 2)) as monitor:
        for _ in range(4):
            net(torch.ones(2, 3)).sum().backward()
            step()

    assert monitor.step == 4
    assert log.calls == [(1, "step-end"), (1, "forward-entry"), (2, "step-end"), (2, "forward-entry")]
    assert log.num_optimizers == [1] * 4


def test_what_is_compiled_inside_an_optimizer_is_no_forward(tmp_path: Path) -> None:
    halve = torch.compile(lambda tensor: tensor * 0.5, **COMPILE)

    class Halving(torch.optim.SGD):
        def step(self, closure: object = None) -> None:
            with torch.no_grad():
                for parameter in self.param_groups[0]["params"]:
                    parameter.copy_(halve(parameter))

    net, _ = net_and_sgd()
    optimizer, log = Halving(net.parameters(), lr=0.01), CensusLog()
    with recording(tmp_path, log, census_at=(1,)) as monitor:
        for _ in range(3):
            optimizer.step()

    assert (monitor.step, log.calls) == (3, [(1, "step-end")])


def test_without_an_optimizer_each_compiled_call_ends_the_step_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Optimizers of other tests in this process would make the recorder wait for their first step.
    monkeypatch.setattr("tenure.capture.monitor.optimizer_was_made", lambda: False)
    net, _ = net_and_sgd()
    model, log = block_compiled_in_place(net), CensusLog()
    with recording(tmp_path, log) as monitor, torch.no_grad():
        for _ in range(4):
            model(torch.ones(2, 3))

    assert monitor.step == 3
    assert log.calls == [(0, "first-call-1"), *((step, "forward-entry") for step in (1, 2, 3))]


def test_stop_after_ends_a_program_whose_steps_are_compiled(tmp_path: Path) -> None:
    net, optimizer = net_and_sgd()
    step = torch.compile(optimizer.step, **COMPILE)
    with recording(tmp_path, stop_after=2):
        net(torch.ones(2, 3)).sum().backward()
        step()
        with pytest.raises(StoppedAfterSteps):
            step()


def test_dynamo_is_left_as_it_was_found(tmp_path: Path) -> None:
    from torch._dynamo import aot_compile, eval_frame, functional_export

    places = (
        (eval_frame, "_callback_from_stance"),
        (eval_frame, "_maybe_set_eval_frame"),
        (aot_compile, "aot_compile_fullgraph"),
        (functional_export, "dynamo_graph_capture_for_export"),
        (functional_export, "_dynamo_graph_capture_for_export"),
    )
    before = [getattr(*place) for place in places]
    with recording(tmp_path):
        during = [getattr(*place) for place in places]

    assert [getattr(*place) for place in places] == before
    assert not set(during) & set(before)


def test_a_strict_export_while_forwards_are_watched_is_as_without_and_they_are_watched_on(tmp_path: Path) -> None:
    net, optimizer = net_and_sgd()
    batch, log = torch.ones(2, 3), CensusLog()
    plain = torch.export.export(net, (batch,), strict=True).graph
    with recording(tmp_path, log, census_at=(1,)):
        net(batch).sum().backward()
        optimizer.step()
        exported = torch.export.export(net, (batch,), strict=True).graph
        assert torch_module._global_forward_pre_hooks
        net(batch)

    assert str(exported) == str(plain)
    assert log.calls == [(1, "step-end"), (1, "forward-entry")]


def test_where_torch_does_not_tell_of_compiled_calls_the_recording_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenure.capture.compiled.compiled.sees_calls", lambda eval_frame: False)
    net, optimizer = net_and_sgd()
    log = CensusLog()
    with recording(tmp_path, log, census_at=(2,)):
        model = torch.compile(net, **COMPILE)
        for _ in range(4):
            model(torch.ones(2, 3)).sum().backward()
            optimizer.step()

    assert log.calls == [(2, "step-end"), (2, "forward-entry")]
    (note,) = open_recording(tmp_path).notes
    assert (note.level, note.text.partition(" (")[0]) == ("info", "This torch does not tell of compiled calls")
