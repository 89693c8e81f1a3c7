from __future__ import annotations

import gc
import os
import shutil
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.nn.modules import module as torch_module
from torch.optim import optimizer as torch_optimizer

from capture.recorder import CensusLog, recording
from tenure.capture.heap.census import take_census
from tenure.capture.options import MonitorOptions
from tenure.capture.record import record
from tenure.capture.steps import call_cost
from tenure.capture.steps.stopping import StoppedAfterSteps
from tenure.capture.system.resident import ResidentMemory
from tenure.capture.writing import local_first
from tenure.errors import UsageError
from tenure.model.heap import CALLED, CALLED_BY_ANY, Census
from tenure.store.recording_file import list_recordings, open_recording, read_census


def linear_and_sgd() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


def train_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()


def test_each_optimizer_step_is_a_step_and_each_due_census_has_a_forward_entry(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    log = CensusLog()
    with recording(tmp_path, log):
        for _ in range(5):
            train_step(model, optimizer)

    opened = open_recording(tmp_path)
    assert [step.step for step in opened.steps] == [1, 2, 3, 4, 5]
    assert log.calls == [
        (0, "first-call-1"),
        *((1, "step-end"), (1, "forward-entry"), (2, "step-end"), (2, "forward-entry")),
        *((3, "step-end"), (3, "forward-entry"), (4, "step-end"), (4, "forward-entry")),
    ]
    assert [(entry.step, entry.moment) for entry in opened.censuses] == log.calls
    assert opened.end is not None
    assert (opened.end["reason"], opened.end["steps"]) == ("exit", 5)
    assert read_census(opened, opened.censuses[2]).moment == "forward-entry"


def test_what_a_census_takes_is_no_part_of_any_steps_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("tenure.capture.steps.run_clock.time", SimpleNamespace(perf_counter=lambda: now[0]))

    class LongCensus(CensusLog):
        def __call__(self, **asked: Any) -> Census:
            now[0] += 1000.0
            return super().__call__(**asked)

    model, optimizer = linear_and_sgd()
    with recording(tmp_path, LongCensus(), profile_step=0):
        for _ in range(5):
            now[0] += 2.0
            train_step(model, optimizer)

    assert [step.seconds for step in open_recording(tmp_path).steps] == [2.0] * 5


def test_the_entry_census_is_given_positional_and_keyword_arguments_of_the_root_call(tmp_path: Path) -> None:
    class Model(torch.nn.Linear):
        def forward(self, batch: torch.Tensor, *, scale: torch.Tensor) -> torch.Tensor:
            return super().forward(batch) * scale

    model, log = Model(3, 3), CensusLog()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batch, scale = torch.ones(2, 3), torch.ones(1)
    with recording(tmp_path, log, census_at=(1,)):
        for _ in range(3):
            model(batch, scale=scale).sum().backward()
            optimizer.step()

    args, kwargs = log.inputs[1]  # type: ignore[misc]
    assert args[0] is batch
    assert kwargs["scale"] is scale
    assert log.num_optimizers == [1, 1]
    assert not model._forward_pre_hooks_with_kwargs


@pytest.mark.slow
def test_modules_called_anywhere_in_the_step_after_a_census_are_marked_in_the_next_one(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    teacher, resting = torch.nn.Bilinear(3, 3, 3), torch.nn.Embedding(3, 3)
    with recording(tmp_path, take_census, census_at=(1, 2, 3)):
        for step in range(3):
            model(torch.ones(2, 3)).sum().backward()
            if step == 1:
                teacher(torch.ones(2, 3), torch.ones(2, 3))
            optimizer.step()

    opened = open_recording(tmp_path)
    censuses = [read_census(opened, entry) for entry in opened.censuses]
    called = {
        (census.step, census.moment, census.text(type_name).rpartition(".")[2])
        for census in censuses
        for type_name in census.nodes.type[(census.nodes.flags & CALLED) != 0].tolist()
    }
    assert called == {
        (1, "step-end", "Sequential"),
        (1, "forward-entry", "Sequential"),
        (2, "step-end", "Bilinear"),
        (2, "forward-entry", "Sequential"),
    }
    assert resting.weight is not None


def test_modules_that_other_modules_call_are_marked_apart_and_those_that_nobody_calls_are_not(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    model.unused = torch.nn.Bilinear(3, 3, 3)
    model.forward = lambda inputs: model[0](inputs)
    with recording(tmp_path, take_census, census_at=(2,)):
        for _ in range(2):
            train_step(model, optimizer)

    opened = open_recording(tmp_path)
    last = read_census(opened, opened.censuses[0])
    flags = dict(zip(last.nodes.address.tolist(), last.nodes.flags.tolist(), strict=True))
    marks = [flags[id(module)] & (CALLED | CALLED_BY_ANY) for module in (model, model[0], model.unused)]
    assert marks == [CALLED | CALLED_BY_ANY, CALLED_BY_ANY, 0]
    called_in = dict(zip(last.nodes.address.tolist(), last.nodes.called_in.tolist(), strict=True))
    assert [called_in[id(module)] for module in (model, model[0], model.unused)] == [2, 2, 0]


@pytest.mark.slow
def test_calls_between_the_optimizers_of_one_step_and_in_round_steps_are_marked_too(tmp_path: Path) -> None:
    (one, first), (two, second) = linear_and_sgd(), linear_and_sgd()
    between, every_ten = torch.nn.Bilinear(3, 3, 3), torch.nn.Embedding(3, 3)
    with recording(tmp_path, take_census, census_at=(3, 24)):
        for step in range(24):
            train_step(one, first)
            between(torch.ones(2, 3), torch.ones(2, 3))
            train_step(two, second)
            if step % 10 == 0 and step:
                every_ten(torch.tensor([0]))

    opened = open_recording(tmp_path)
    last = read_census(opened, opened.censuses[-1])
    types = last.nodes.type[(last.nodes.flags & CALLED) != 0].tolist()
    called = {last.text(type_name).rpartition(".")[2] for type_name in types}
    assert (last.step, last.moment) == (24, "step-end")
    assert called == {"Sequential", "Bilinear", "Embedding"}


@pytest.mark.slow
def test_a_module_that_is_called_between_censuses_is_marked_in_whichever_step_it_is_called(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    every_seven = torch.nn.Embedding(3, 3)
    with recording(tmp_path, take_census, census_at=(3, 36)):
        for step in range(36):
            train_step(model, optimizer)
            if step % 7 == 6:
                every_seven(torch.tensor([0]))

    opened = open_recording(tmp_path)
    last = read_census(opened, next(each for each in opened.censuses if each.step == 36))
    types = last.nodes.type[(last.nodes.flags & CALLED) != 0].tolist()
    assert {last.text(type_name).rpartition(".")[2] for type_name in types} == {"Sequential", "Embedding"}


WITH_GRAPH = ("graph-2", "returned-2", "graph-4", "graph-6", "graph-8")


@pytest.mark.parametrize(("trains", "autograd", "moments"), [
    (True, False, ("4", "6", "8")), (True, True, WITH_GRAPH), (False, True, ("4", "6", "8")),
], ids=["without autograd", "with autograd", "with autograd, and it trains in evaluation mode too"])  # fmt: skip
def test_censuses_within_an_evaluation_are_taken_before_its_calls(
    tmp_path: Path, trains: bool, autograd: bool, moments: tuple[str, ...]
) -> None:
    model, optimizer = linear_and_sgd()
    log = CensusLog()
    with recording(tmp_path, log):
        for _ in range(5):
            train_step(model.train(trains), optimizer)
        model.eval()
        with torch.set_grad_enabled(autograd):
            for _ in range(10):
                model(torch.ones(2, 3))
        train_step(model.train(), optimizer)

    taken = [call for call in log.calls if call[1].startswith("evaluation")]
    assert taken == [(5, f"evaluation-{moment}") for moment in moments]


@pytest.mark.parametrize("asks", [False, True])
def test_a_backward_pass_through_what_an_evaluation_gave_back_is_in_its_steps_row(tmp_path: Path, asks: bool) -> None:
    """Forces are gradients of an energy: their evaluation needs the graph."""
    model, optimizer = linear_and_sgd()
    with recording(tmp_path):
        for _ in range(3):
            train_step(model.train(), optimizer)
        for _ in range(2):
            energy = model.eval()(torch.ones(2, 3, requires_grad=True)).sum()
            if asks:
                energy.backward()
        for _ in range(2):
            train_step(model.train(), optimizer)

    rows = open_recording(tmp_path).steps
    assert [row.counters.get("evaluation_backward", 0) for row in rows] == [0, 0, 0, int(asks), 0]


@pytest.mark.parametrize("asks", [False, True])
def test_more_calls_in_training_mode_than_any_step_had_are_looked_at_as_they_return(tmp_path: Path, asks: bool) -> None:
    """An evaluation that asks for neither mode, or micro-batches that became more: the backward pass tells."""
    model, optimizer = linear_and_sgd()
    log = CensusLog()
    with recording(tmp_path, log):
        for _ in range(3):
            train_step(model, optimizer)
        outputs = [model(torch.ones(2, 3)) for _ in range(2)]
        if asks:
            sum(output.sum() for output in outputs).backward()
        for _ in range(2):
            train_step(model, optimizer)

    assert [call for call in log.calls if call[1].startswith("evaluation")] == [
        (3, "evaluation-training-2"),
        (3, "evaluation-training-3"),
    ]
    rows = open_recording(tmp_path).steps
    assert [row.counters.get("unusual_backward", 0) for row in rows] == [0, 0, 0, 2 if asks else 3, 0]


def test_calls_without_gradients_in_training_mode_are_an_evaluation_too(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    log = CensusLog()
    with recording(tmp_path, log):
        train_step(model, optimizer)
        with torch.no_grad():
            for _ in range(5):
                model(torch.ones(2, 3))

    assert [call for call in log.calls if call[1].startswith("evaluation")] == [(1, "evaluation-4")]


def test_where_no_step_ends_any_more_calls_of_models_are_watched_again(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    log = CensusLog()
    with recording(tmp_path, log) as monitor:
        for _ in range(3):
            train_step(model, optimizer)
        monitor._modules.remove()  # as in the quiet steps of a long run
        model.eval()
        for _ in range(5):
            model(torch.ones(2, 3))
        monitor._recorder._watch_where_no_step_ends(time.perf_counter() + 0.9)
        assert not monitor._modules.is_watching
        monitor._recorder._watch_where_no_step_ends(time.perf_counter() + 3600)
        for _ in range(100):
            model(torch.ones(2, 3))
        watches_after = monitor._modules.is_watching
        monitor._recorder._watch_where_no_step_ends(time.perf_counter() + 3600)

    numbers = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
    assert [call for call in log.calls if call[1].startswith("evaluation")] == [
        (3, "evaluation-graph-2"),
        (3, "evaluation-returned-2"),
        *((3, f"evaluation-graph-{n}") for n in numbers),
    ]
    assert (watches_after, monitor._modules.is_watching) == (False, False)


def test_nothing_of_the_recorder_is_left_in_torch(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    with recording(tmp_path):
        train_step(model, optimizer)

    assert not torch_module._global_forward_pre_hooks
    assert not torch_module._global_forward_hooks
    assert not torch_optimizer._global_optimizer_pre_hooks
    assert not torch_optimizer._global_optimizer_post_hooks


def test_a_steps_row_has_resident_memory_at_the_ends_of_its_phases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = iter(range(1, 100))
    monkeypatch.setattr(ResidentMemory, "read", lambda self: next(values))
    model, optimizer = linear_and_sgd()
    with recording(tmp_path, census_at=()):
        for _ in range(2):
            train_step(model, optimizer)
        model.eval()(torch.ones(2, 3))
        train_step(model.train(), optimizer)

    last = open_recording(tmp_path).steps[-1].counters
    first = last["between_steps_rss_bytes"]
    assert {name: value - first for name, value in last.items() if name.endswith("rss_bytes")} == {
        "between_steps_rss_bytes": 0,
        "evaluation_rss_bytes": 1,
        "forward_rss_bytes": 2,
        "backward_rss_bytes": 3,
        "rss_bytes": 4,
    }


def test_where_calls_cost_more_than_they_may_the_module_hook_is_there_only_while_an_entry_census_is_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_cost, "FREE_SECONDS", 0.0)
    monkeypatch.setattr(call_cost, "SHARE", 0.0)
    model, optimizer = linear_and_sgd()
    installed = []
    with recording(tmp_path, census_at=(2,)):
        for _ in range(4):
            train_step(model, optimizer)
            installed.append(bool(torch_module._global_forward_pre_hooks))

    assert installed == [False, True, False, False]


def test_a_gan_has_as_many_steps_as_turns(tmp_path: Path) -> None:
    (first, one), (second, two) = linear_and_sgd(), linear_and_sgd()
    with recording(tmp_path) as monitor:
        for _ in range(6):
            train_step(first, one)
            train_step(second, two)

    assert monitor.step == 6


def test_gradient_accumulation_lies_inside_a_step(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    with recording(tmp_path) as monitor:
        for micro_batch in range(12):
            model(torch.ones(2, 3)).sum().backward()
            if micro_batch % 4 == 3:
                optimizer.step()

    assert monitor.step == 3


def test_schedulers_scalers_and_closures_do_not_hide_steps(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    scaler = torch.amp.GradScaler("cpu")
    with recording(tmp_path / "scaled") as scaled:
        for _ in range(3):
            scaler.scale(model(torch.ones(2, 3)).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()
    lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=3)

    def closure() -> torch.Tensor:
        loss = model(torch.ones(2, 3)).pow(2).sum()
        lbfgs.zero_grad()
        loss.backward()
        return loss

    with recording(tmp_path / "closure") as closed:
        for _ in range(2):
            lbfgs.step(closure)

    assert (scaled.step, closed.step) == (3, 2)


def test_an_optimizer_that_steps_through_its_parent_class_steps_once(tmp_path: Path) -> None:
    class Careful(torch.optim.SGD):
        def step(self, closure: object = None) -> None:
            super().step(closure)

    model, plain = linear_and_sgd()
    careful = Careful(model.parameters(), lr=0.01)
    train_step(model, plain)
    with recording(tmp_path) as monitor:
        for _ in range(3):
            train_step(model, careful)

    assert monitor.step == 3


def test_without_an_optimizer_each_root_call_ends_the_step_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Optimizers of other tests in this process would make the recorder wait for their first step.
    monkeypatch.setattr("tenure.capture.monitor.optimizer_was_made", lambda: False)
    model, log = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)), CensusLog()
    with recording(tmp_path, log) as monitor, torch.no_grad():
        for _ in range(4):
            torch.nn.functional.relu(model(torch.ones(2, 3)))
            torch.nn.ReLU()(torch.ones(1))

    assert monitor.step == 3
    assert log.calls == [(0, "first-call-1"), (1, "forward-entry"), (2, "forward-entry"), (3, "forward-entry")]


def test_a_failure_of_the_census_is_noted_and_training_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**arguments: object) -> Census:
        raise RuntimeError("planted")

    model, optimizer = linear_and_sgd()
    with recording(tmp_path, fail) as monitor:
        for _ in range(3):
            train_step(model, optimizer)
        assert not monitor.is_recording

    opened = open_recording(tmp_path)
    assert [(note.level, note.text.splitlines()[0]) for note in opened.notes] == [("failure", "RuntimeError: planted")]
    assert opened.end is not None
    assert opened.end["reason"] == "recorder-failure"
    assert capsys.readouterr().err.count("the program goes on: RuntimeError: planted") == 1


def test_a_recording_that_cannot_be_written_any_more_is_given_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, optimizer = linear_and_sgd()
    with recording(tmp_path / "run", census_at=(2,)) as monitor:
        train_step(model, optimizer)
        shutil.rmtree(tmp_path / "run")
        for _ in range(3):
            train_step(model, optimizer)
        assert not monitor.is_recording

    assert capsys.readouterr().err.count("recording stopped, the program goes on: cannot write") == 1


def test_stop_after_ends_the_main_thread_by_system_exit_with_a_last_census(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    log = CensusLog()
    with recording(tmp_path, log, stop_after=5):
        for _ in range(4):
            train_step(model, optimizer)
        with pytest.raises(StoppedAfterSteps) as stopped:
            train_step(model, optimizer)

    opened = open_recording(tmp_path)
    assert stopped.value.code == 0
    assert log.calls[-1] == (5, "step-end")
    assert opened.end is not None
    assert opened.end["reason"] == "stopped"


def test_steps_of_another_thread_are_recorded(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    with recording(tmp_path) as monitor:
        worker = threading.Thread(target=lambda: [train_step(model, optimizer) for _ in range(3)])
        worker.start()
        worker.join()

    assert monitor.step == 3


def test_results_are_the_same_bits_with_and_without(tmp_path: Path) -> None:
    def train() -> torch.Tensor:
        torch.manual_seed(3)
        model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3))
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(6):
            train_step(model, optimizer)
        return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])

    without = train()
    with recording(tmp_path):
        recorded = train()

    assert torch.equal(without, recorded)


# Dynamo itself calls what torch 2.13 deprecates.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.slow
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_dynamo_counts_the_same_with_and_without(tmp_path: Path, backend: str) -> None:
    def train() -> dict[str, dict[str, int]]:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        model, optimizer = linear_and_sgd()
        compiled = torch.compile(model, backend=backend, fullgraph=True)
        step = torch.compile(optimizer.step, backend="eager")
        for _ in range(6):
            optimizer.zero_grad()
            compiled(torch.ones(2, 3)).sum().backward()
            step()
            optimizer.step()
        wanted = ("stats", "graph_break", "recompiles")
        return {name: dict(torch._dynamo.utils.counters[name]) for name in wanted}

    # A process's first compilation counts frames that later ones find done.
    train()
    without = train()
    with recording(tmp_path) as monitor:
        recorded = train()
    torch._dynamo.reset()

    assert recorded == without
    assert monitor.step == 12


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_compiled_module_has_its_forward_entries_too(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    log = CensusLog()
    before = vars(torch._dynamo.OptimizedModule)["__call__"]
    with recording(tmp_path, log, census_at=(2,)):
        compiled = torch.compile(model, backend="eager")
        for _ in range(4):
            compiled(torch.ones(2, 3)).sum().backward()
            optimizer.step()
    torch._dynamo.reset()

    assert log.calls == [(2, "step-end"), (2, "forward-entry")]
    assert vars(type(compiled))["__call__"] is before


def test_a_forked_child_leaves_the_recording_alone(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    with recording(tmp_path) as monitor:
        train_step(model, optimizer)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                # No backward: torch refuses it in a fork once its threads for devices run, which also begin with the
                # first backward after a fake tensor mode, of any earlier test.
                model(torch.ones(2, 3))
                optimizer.step()
                code = 2 if monitor.is_recording else 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        train_step(model, optimizer)

    assert [step.step for step in open_recording(tmp_path).steps] == [1, 2]


def test_steps_marked_in_code_replace_the_hooks(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    with record(tmp_path / "run", census_at=[]) as run:
        for _ in range(3):
            with run.step():
                train_step(model, optimizer)
                train_step(model, optimizer)

    assert [step.step for step in open_recording(run.path).steps] == [1, 2, 3]


def test_record_refuses_a_folder_that_holds_something(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")

    with pytest.raises(UsageError, match="is not empty, and nothing is overwritten"), record(tmp_path):
        pass


def test_the_switch_turns_record_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENURE", "0")
    model, optimizer = linear_and_sgd()
    with record(tmp_path / "run") as run, run.step():
        train_step(model, optimizer)

    assert not (tmp_path / "run").exists()


def test_options_survive_their_way_through_the_environment() -> None:
    options = MonitorOptions(stop_after=3, census_at=(1, 2), budget_percent=1.5, hash_at=(7,))

    assert MonitorOptions.from_json(options.to_json()) == options
    assert MonitorOptions.from_json("") == MonitorOptions()


def test_the_first_root_modules_are_seen_at_their_first_call_before_any_step(tmp_path: Path) -> None:
    encoders = [torch.nn.Linear(3, 3) for _ in range(6)]
    model, optimizer = linear_and_sgd()
    log = CensusLog()
    with recording(tmp_path, log):
        for encoder in encoders:
            encoder(torch.ones(2, 3))
            encoder(torch.ones(2, 3))
        train_step(model, optimizer)

    assert log.calls[:5] == [*((0, f"first-call-{number}") for number in (1, 2, 3, 4)), (1, "step-end")]


def test_no_collection_starts_where_censuses_are_taken_however_ready_the_collector_is(tmp_path: Path) -> None:
    within: list[bool] = []

    def note_collection(phase: str, info: dict[str, int]) -> None:
        frames = traceback.walk_stack(None)
        within.append(any(frame.f_code.co_name in ("_record_census", "leave_after") for frame, _ in frames))

    model, optimizer = linear_and_sgd()
    thresholds = gc.get_threshold()
    with recording(tmp_path, take_census, census_at=(2, 3)):
        gc.callbacks.append(note_collection)
        gc.set_threshold(1, 1, 1)
        try:
            for _ in range(4):
                train_step(model, optimizer)
        finally:
            gc.set_threshold(*thresholds)
            gc.callbacks.remove(note_collection)

    moments = [(entry.step, entry.moment) for entry in open_recording(tmp_path).censuses]
    assert moments == [(2, "step-end"), (2, "forward-entry"), (3, "step-end"), (3, "forward-entry")]
    assert within
    assert not any(within)
    assert gc.isenabled()


def test_a_census_that_is_asked_for_from_outside_is_taken_at_the_next_steps_end(tmp_path: Path) -> None:
    model, optimizer = linear_and_sgd()
    log = CensusLog()
    with recording(tmp_path, log, census_at=(2,)) as monitor:
        for step in range(1, 6):
            if step in (2, 4):
                monitor._recorder._samples._sampler.census_wanted = True
            train_step(model, optimizer)

    assert log.calls == [(2, "step-end"), (2, "forward-entry"), (4, "request")]
    assert [entry.file for entry in open_recording(tmp_path).censuses][-1] == "census-000004-request.npz"


def test_the_parameters_of_each_optimizer_that_is_still_there_are_hashed(tmp_path: Path) -> None:
    (model, first), (other, second) = linear_and_sgd(), linear_and_sgd()
    with recording(tmp_path, hash_at=tuple(range(1, 9))):
        train_step(model, first)
        for _ in range(2):
            train_step(other, second)
        del first
        gc.collect()
        for _ in range(2):
            train_step(other, second)

    found = [(entry.optimizer, entry.count) for entry in open_recording(tmp_path).parameters]
    assert found[0] == (0, 2)
    assert (1, 2) in found[1:]
    assert found[-2:] == [(1, 2), (1, 2)]


def test_a_recorder_above_its_budget_stops_looking_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with recording(tmp_path, CensusLog(), budget_percent=0.0) as monitor:
        train_step(model, optimizer)
        monitor._guard.own_seconds += 11.0
        train_step(model, optimizer)
        assert not monitor.is_recording
        train_step(model, optimizer)

    opened = open_recording(tmp_path)
    (note,) = [note for note in opened.notes if note.level == "warning"]
    assert note.text.startswith("the recorder stopped looking: its hooks took 11.")
    assert [each.step for each in opened.steps] == [1, 2]
    assert opened.end is not None
    assert opened.end["reason"] == "budget"
    assert "recording stopped, the program goes on: its hooks took 11." in capsys.readouterr().err


def test_the_environment_replaces_the_budget_of_a_recording_and_must_be_a_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENURE_BUDGET", "0.5%")
    with record(tmp_path / "a") as run:
        assert run._monitor is not None
        assert run._monitor._recorder._options.budget_percent == 0.5
    monkeypatch.setenv("TENURE_BUDGET", "much")
    with pytest.raises(UsageError, match="TENURE_BUDGET: 'much' is no share from 0% to 100%"), record(tmp_path / "b"):
        pass


def test_a_recording_for_a_network_disk_is_written_here_first_and_lies_there_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, here = tmp_path / "target", tmp_path / "here"
    here.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(here))
    monkeypatch.setattr(local_first, "network_file_system", lambda folder: "nfs4" if folder == target else None)
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    monkeypatch.setattr("tenure.store.staging.COPY_SECONDS", 0.0)
    with recording(target, CensusLog()) as monitor:
        train_step(model, optimizer)
        train_step(model, optimizer)
        assert len(list(here.glob("tenure-*"))) == 1
        monitor._journal.flush_if_due(seconds=0)
        during = open_recording(target)

    opened = open_recording(target)
    assert [step.step for step in during.steps] == [1, 2]
    assert [note.text.partition(" at ")[0] for note in during.notes if note.level == "warning"] == [
        "what is here was copied"
    ]
    assert ([step.step for step in opened.steps], len(opened.censuses) > 1, opened.notes) == ([1, 2], True, ())
    assert list(here.glob("tenure-*")) == []


def test_where_the_network_disk_fails_the_recording_stays_here_and_a_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target, here = tmp_path / "target", tmp_path / "here"
    here.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(here))
    monkeypatch.setattr(local_first, "network_file_system", lambda folder: "nfs4" if folder == target else None)
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with recording(target, CensusLog()):
        train_step(model, optimizer)
        shutil.rmtree(target)

    (left,) = here.glob("tenure-*")
    assert [step.step for step in open_recording(left).steps] == [1]
    assert f"could not be copied to {target}" in capsys.readouterr().err


def test_each_of_several_ranks_records_a_part_of_its_program_below_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank in ("0", "1", "1"):
        monkeypatch.setenv("RANK", rank)
        with record(tmp_path / "run", census_at=[]) as run:
            train_step(model, optimizer)
        assert len(open_recording(run.path).steps) == 1

    assert [Path(path).name for path in list_recordings(tmp_path / "run")] == [
        *("rank-00000", "rank-00001", "rank-00001-attempt-2")
    ]


def test_a_program_that_makes_warnings_errors_is_recorded_to_its_end(tmp_path: Path) -> None:
    """Weights that an inner step computes are no leaves: torch warns of their `.grad`, even where that is only asked
    for. torchopt has modules of such weights."""
    model, optimizer = linear_and_sgd()
    fast = torch.nn.Linear(3, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with record(tmp_path / "run", census_at=(2, 3)):
            for _ in range(4):
                fast._parameters["weight"] = model[0].weight - 0.1 * model[0].weight.detach()  # type: ignore[assignment]
                fast(torch.ones(2, 3)).sum().backward()
                optimizer.step()
                optimizer.zero_grad()

    opened = open_recording(tmp_path / "run")
    assert [note.text for note in opened.notes if note.level in ("failure", "warning")] == []
    assert len(opened.steps) == 4
