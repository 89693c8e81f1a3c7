"""The profiled steps: what is noted of them, and that the program is as it was without."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode
from torch.utils.checkpoint import checkpoint

from capture.recorder import CensusLog, recording
from tenure.capture.heap.census import take_census
from tenure.capture.monitor import Monitor
from tenure.capture.profile.step_profile import choose_step
from tenure.capture.steps.schedule import Schedule
from tenure.model.heap import Census, ReferenceKind
from tenure.model.profile import ALIVE, BEFORE, Phase, StepProfile
from tenure.store.profile_file import read_profile
from tenure.store.recording_file import open_recording, read_census

Step = Callable[[int], None]


class PeakCensus(CensusLog):
    """A true census at the peak; those at the steps' ends and beginnings are stand-ins."""

    def __call__(self, *, moment: str, **about: Any) -> Census:
        return (take_census if moment == "peak" else super().__call__)(moment=moment, **about)


class SizedCensus(CensusLog):
    """Censuses of one storage of so many bytes at each step."""

    def __init__(self, bytes_at: Callable[[int], int]) -> None:
        super().__init__()
        self._bytes_at = bytes_at

    def __call__(self, *, step: int, **about: Any) -> Census:
        made = super().__call__(step=step, **about)
        columns = {field.name: np.zeros(1, dtype=np.int64) for field in fields(made.storages)}
        columns["bytes"] += self._bytes_at(step)
        return replace(made, storages=type(made.storages)(**columns))


def train(step: Step, folder: Path, *, steps: int = 8, profile_step: int | None = None) -> Monitor:
    with recording(folder, CensusLog(), profile_step=profile_step) as monitor:
        for number in range(steps):
            step(number)
    assert _get_current_dispatch_mode() is None
    return monitor


def make_step(width: int = 64) -> tuple[torch.nn.Module, Step]:
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(8, width), torch.nn.ReLU(), torch.nn.Linear(width, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    batch = torch.randn(16, 8)

    def step(number: int) -> None:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    return model, step


def profile_in(folder: Path) -> StepProfile:
    (entry,) = open_recording(folder).profiles
    return read_profile(folder / entry.file)


def notes_in(folder: Path) -> list[str]:
    return [note.text for note in open_recording(folder).notes]


def names_of(made: StepProfile, first: int = 0, end: int | None = None) -> list[str]:
    return [made.text(position) for position in made.operations.name.tolist()[first:end]]


def test_two_steps_after_warm_up_are_profiled_with_all_three_phases_and_a_census_at_the_peak(tmp_path: Path) -> None:
    _, step = make_step()

    train(step, tmp_path)

    made = profile_in(tmp_path)
    assert notes_in(tmp_path) == []
    assert made.step == 6
    assert names_of(made, 0, made.second) == names_of(made, made.second)
    phases = {Phase(phase) for phase in made.operations.phase.tolist()}
    assert phases >= {Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER}
    alive = made.bytes_alive("cpu")
    assert made.census_op == made.second + int(alive[: made.second].argmax())
    assert [(e.step, e.moment) for e in open_recording(tmp_path).censuses if e.moment == "peak"] == [(6, "peak")]


def test_births_uses_and_deaths_are_those_of_the_program(tmp_path: Path) -> None:
    weight = torch.nn.Parameter(torch.ones(100))
    model = torch.nn.Module()
    model.weight = weight
    model.forward = lambda: None  # type: ignore[method-assign]
    optimizer = torch.optim.SGD([weight], lr=0.1)

    def step(number: int) -> None:
        model()
        kept = torch.zeros(1000)
        used = kept + 1
        del kept
        used.mul_(2)
        weight.grad = torch.ones(100)
        optimizer.step()
        del used

    train(step, tmp_path)

    made = profile_in(tmp_path)
    zeros, plus, doubled = (names_of(made).index(name) for name in
                            ("aten.zeros.default", "aten.add.Tensor", "aten.mul_.Tensor"))  # fmt: skip
    rows = {int(birth): row for row, birth in enumerate(made.storages.birth.tolist()) if birth != BEFORE}
    kept, used = rows[zeros], rows[plus]
    assert (made.storages.bytes[kept], made.text(int(made.storages.shape[kept]))) == (4000, "[1000]")
    assert (made.storages.last_use[kept], made.storages.death[kept]) == (plus, plus)
    assert (made.storages.last_use[used], made.storages.death[used]) == (doubled, made.second - 1)
    again = made.second + zeros
    row = made.storages.birth.tolist().index(again)
    assert made.uses.operation[made.uses.storage == row].tolist() == [made.second + plus]
    assert made.uses.operation.min() >= made.second
    of_weight = made.storages.address.tolist().index(torch._C._storage_id(weight))
    assert (made.storages.birth[of_weight], made.storages.death[of_weight]) == (BEFORE, ALIVE)
    assert made.storages.last_use[of_weight] >= made.second
    site = int(made.operations.site[zeros])
    assert made.text(int(made.sites.file[site])) == __file__
    assert "torch.zeros(1000)" in Path(__file__).read_text().splitlines()[int(made.sites.line[site]) - 1]


@pytest.mark.slow
def test_the_peak_census_sees_the_variables_of_the_running_step(tmp_path: Path) -> None:
    model, _ = make_step()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(number: int) -> None:
        held = model(torch.randn(4096, 8))
        held.square().mean().backward()
        optimizer.step()

    with recording(tmp_path, PeakCensus()):
        for number in range(8):
            step(number)

    opened = open_recording(tmp_path)
    (entry,) = [entry for entry in opened.censuses if entry.moment == "peak"]
    census = read_census(opened, entry)
    names = {census.text(label) for label in census.references.label.tolist()}
    assert "held" in names
    assert notes_in(tmp_path) == []


@pytest.mark.slow
def test_a_view_keeps_its_base_in_the_peak_census(tmp_path: Path) -> None:
    """The profile gives each tensor a Python object, also those that views alone keep: no one else holds them."""
    model, _ = make_step()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(number: int) -> None:
        view = model(torch.randn(4096, 8)).view(2048, 8)
        view.square().mean().backward()
        optimizer.step()

    with recording(tmp_path, PeakCensus()):
        for number in range(8):
            step(number)

    opened = open_recording(tmp_path)
    (entry,) = [entry for entry in opened.censuses if entry.moment == "peak"]
    census = read_census(opened, entry)
    held = census.references.target[census.references.kind == ReferenceKind.BASE]
    of_bases = np.isin(census.references.source, held) & (census.references.kind == ReferenceKind.STORAGE)
    sizes = census.storages.bytes[np.isin(census.storages.node, census.references.target[of_bases])]
    assert 4096 * 4 * 4 in sizes.tolist()


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_hooks_and_custom_functions_come_to_the_same_bits(tmp_path: Path, reentrant: bool) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, value):  # type: ignore[no-untyped-def]
            ctx.save_for_backward(value)
            return value * 2

        @staticmethod
        def backward(ctx, gradient):  # type: ignore[no-untyped-def]
            (value,) = ctx.saved_tensors
            return gradient * 2 + 0 * value

    def run(folder: Path, profile_step: int) -> list[torch.Tensor]:
        torch.manual_seed(5)
        model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Dropout(0.5), torch.nn.Linear(32, 4))
        optimizer = torch.optim.Adam(model.parameters())

        class Net(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inner = model

            def forward(self, batch: torch.Tensor) -> torch.Tensor:
                hidden = checkpoint(self.inner, batch, use_reentrant=reentrant)
                with torch.autograd.graph.save_on_cpu():
                    return Double.apply(hidden).tanh()

        net = Net()

        def step(number: int) -> None:
            optimizer.zero_grad()
            net(torch.randn(16, 8, requires_grad=True)).square().mean().backward()
            optimizer.step()

        train(step, folder, profile_step=profile_step)
        return [parameter.detach().clone() for parameter in model.parameters()] + [torch.get_rng_state()]

    watched, plain = run(tmp_path / "watched", 5), run(tmp_path / "plain", 0)

    assert all(torch.equal(one, other) for one, other in zip(watched, plain, strict=True))
    assert [p.step for p in open_recording(tmp_path / "watched").profiles] == [6]
    assert open_recording(tmp_path / "plain").profiles == ()


def test_an_exception_in_an_operation_passes_through_and_ends_the_profile(tmp_path: Path) -> None:
    _, good = make_step()
    seen: list[BaseException] = []

    def step(number: int) -> None:
        if number == 5:
            try:
                torch.ones(3) @ torch.ones(4)
            except RuntimeError as error:
                seen.append(error)
        good(number)

    train(step, tmp_path)

    assert len(seen) == 1
    assert open_recording(tmp_path).profiles == ()
    assert notes_in(tmp_path) == ["step 5 was not profiled: an operation raised RuntimeError"]
    trace = seen[0].__traceback__
    while trace is not None:
        held = [value for value in trace.tb_frame.f_locals.values() if isinstance(value, (tuple, list))]
        assert not any(isinstance(item, torch.Tensor) for value in held for item in value)
        trace = trace.tb_next


def test_where_a_mode_or_a_tensor_class_of_the_program_is_at_work_nothing_is_profiled(tmp_path: Path) -> None:
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            return func(*args, **(kwargs or {}))

    _, inner = make_step()

    def under_mode(number: int) -> None:
        with Mode():
            inner(number)

    train(under_mode, tmp_path / "mode")

    assert open_recording(tmp_path / "mode").profiles == ()
    assert notes_in(tmp_path / "mode") == ["step 5 was not profiled: another dispatch mode is active"]


def test_a_mode_that_the_program_leaves_on_top_stays_where_it_is(tmp_path: Path) -> None:
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            return func(*args, **(kwargs or {}))

    _, inner = make_step()
    mode = Mode()

    with recording(tmp_path):
        for number in range(12):
            if number == 5:
                mode.__enter__()
            inner(number)
            if number == 9:
                assert _get_current_dispatch_mode() is mode
                mode.__exit__(None, None, None)
    while _get_current_dispatch_mode() is not None:
        _get_current_dispatch_mode().__exit__(None, None, None)

    assert [note for note in notes_in(tmp_path) if "Error" in note] == []


@pytest.mark.parametrize("profile_step", [5, 6])
def test_an_inference_mode_around_a_validation_ends_with_the_keys_that_it_found(
    tmp_path: Path, profile_step: int
) -> None:
    model, train_step = make_step()
    seen: list[bool] = []

    def step(number: int) -> None:
        train_step(number)
        with torch.inference_mode():
            if number == 6:
                model(torch.randn(2, 8))
        torch.randn(2)
        seen.append(_get_current_dispatch_mode() is not None)

    train(step, tmp_path, steps=12, profile_step=profile_step)

    assert profile_in(tmp_path).step == profile_step + 1
    assert seen[8:] == [False] * 4


def test_where_each_call_has_its_own_inference_mode_the_program_goes_on(tmp_path: Path) -> None:
    model = torch.nn.Linear(8, 8)

    @torch.inference_mode()
    def answer() -> torch.Tensor:
        return model(torch.ones(2, 8))

    with recording(tmp_path, CensusLog(), profile_step=3):
        for _ in range(10):
            answer()
            torch.nn.Linear(4, 4)  # making parameters brings the key of a mode on the stack back
            torch.randn(2)
    with torch.no_grad():
        torch.randn(2)


def test_where_each_call_has_its_own_inference_mode_both_steps_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenure.capture.monitor.optimizer_was_made", lambda: False)
    model = torch.nn.Linear(8, 8)

    @torch.inference_mode()
    def answer() -> torch.Tensor:
        return model(torch.ones(2, 8)).softmax(-1)

    with recording(tmp_path, profile_step=3):
        for _ in range(10):
            answer()

    found = profile_in(tmp_path)
    names = [found.text(name).split(".")[1] for name in found.operations.name.tolist()]
    one_step = ["linear", "softmax"]
    assert [name for name in names[: found.second] if name in one_step] == one_step
    assert [name for name in names[found.second :] if name in one_step] == one_step
    assert found.census_op >= found.second


@pytest.mark.slow
def test_what_trains_nothing_is_profiled_again_where_its_memory_has_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in ("monitor", "profile.profile_planning"):
        monkeypatch.setattr(f"tenure.capture.{user}.optimizer_was_made", lambda: False)

    def run(folder: Path, at_first: int) -> list[int]:
        model = torch.nn.Linear(8, 8)
        with recording(folder, SizedCensus(lambda step: at_first + step * 1000)), torch.no_grad():
            for _ in range(60):
                model(torch.randn(16, 8))
        return [entry.step for entry in open_recording(folder).profiles]

    # 6 KB at first, then 13 and 32 after the steps with these censuses; not again until 64
    assert run(tmp_path / "grows", 0) == [6, 15, 34]
    assert run(tmp_path / "hardly grows", 1_000_000) == [6]


@pytest.mark.slow
def test_a_training_is_profiled_again_where_its_memory_has_risen_and_stays_and_not_where_it_goes_on_rising(
    tmp_path: Path,
) -> None:
    def profiled(name: str, bytes_at: Callable[[int], int]) -> list[int]:
        _, step = make_step()
        with recording(tmp_path / name, SizedCensus(lambda step: bytes_at(step) << 12)):
            for number in range(1, 140):
                step(number)
        return [entry.step for entry in open_recording(tmp_path / name).profiles]

    # censuses come after steps 13, 16, 22, 32, 44, 64, 95, 128
    assert profiled("once", lambda step: 1000 + 200 * (step > 15)) == [6, 34]
    assert profiled("hardly", lambda step: 1000 + 90 * (step > 15)) == [6]
    assert profiled("ever more", lambda step: 1000 + 200 * step) == [6]
    assert profiled("to and fro", lambda step: 1000 + 200 * (step in (16, 32, 64))) == [6]
    assert profiled("twice", lambda step: 1000 + 200 * (step > 10) + 300 * (step > 30)) == [6, 24, 66]


def test_where_the_peak_does_not_come_again_nobody_is_asked(tmp_path: Path) -> None:
    model, _ = make_step()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(number: int) -> None:
        model(torch.randn(16, 8)).square().mean().backward()
        large = torch.ones(50_000)
        large = large.sin() if number % 2 else large.cos()
        optimizer.step()

    train(step, tmp_path)

    assert profile_in(tmp_path).census_op == -1
    assert notes_in(tmp_path) == ["steps 5 and 6 differ: the operation at the peak did not come again"]


@pytest.mark.parametrize(("updates", "profiled"), [(1, [6]), (2, [6, 12]), (3, [6, 12])])
def test_where_several_updates_follow_a_rollout_more_steps_are_watched_as_one_until_the_peak_comes_again(
    tmp_path: Path, updates: int, profiled: list[int]
) -> None:
    model, _ = make_step()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(number: int) -> None:
        if number % updates == 4 % updates:
            with torch.no_grad():
                assert [model(torch.randn(16, 8)) for _ in range(100)]
        model(torch.randn(16, 8)).square().mean().backward()
        optimizer.step()

    train(step, tmp_path, steps=24)

    found = open_recording(tmp_path).profiles
    assert [each.step for each in found] == profiled
    assert [read_profile(tmp_path / each.file).census_op >= 0 for each in found] == [False] * (len(found) - 1) + [True]


def test_where_a_step_calls_no_module_more_steps_are_watched_as_one(tmp_path: Path) -> None:
    """As where the penalty on the weights has updates of its own: the next step's forward was to end the profile."""
    model, _ = make_step()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(number: int) -> None:
        if number % 4 == 2:
            sum(parameter.square().sum() for parameter in model.parameters()).backward()
        else:
            model(torch.randn(16, 8)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    train(step, tmp_path, steps=32)

    assert notes_in(tmp_path)[:1] == ["step 5 was not profiled: no root module was called in the step"]
    assert profile_in(tmp_path).census_op >= 0


def peaks_met(folder: Path) -> list[bool]:
    """Of the first profile and the last whether the census was taken where most memory was alive in all that was
    watched, but for what happens to be there from before."""
    found = [read_profile(folder / each.file) for each in open_recording(folder).profiles]
    alive = [made.bytes_alive("cpu") for made in found]
    met = [10 * each[made.census_op] > 9 * max(each) for made, each in zip(found, alive, strict=True)]
    return [met[0], met[-1]]


def test_where_the_peaks_operation_comes_again_with_much_less_alive_more_steps_are_watched_as_one(
    tmp_path: Path,
) -> None:
    """One function scores a rollout of many and, in each update, a few."""
    model, _ = make_step()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def score(rows: int) -> torch.Tensor:
        return model(torch.randn(rows, 8)).log_softmax(-1).square().mean()

    def step(number: int) -> None:
        if number % 4 == 0:
            with torch.no_grad():
                score(20_000)
        score(16).backward()
        optimizer.step()

    train(step, tmp_path, steps=40)

    assert peaks_met(tmp_path) == [False, True]


def test_what_the_collector_takes_between_two_steps_makes_them_no_other_steps(tmp_path: Path) -> None:
    _, update = make_step()
    ring: list[object] = [torch.ones(1 << 20)]
    ring.append(ring)
    held = [ring]
    del ring

    def step(number: int) -> None:
        if number == 5:
            held.clear()
            gc.collect()
        update(number)

    train(step, tmp_path, steps=16)

    assert [each.step for each in open_recording(tmp_path).profiles] == [6]


def test_no_dynamo_is_loaded_and_nothing_is_left_behind(tmp_path: Path) -> None:
    _, step = make_step()
    before = "torch._dynamo" in sys.modules

    monitor = train(step, tmp_path)

    assert ("torch._dynamo" in sys.modules) == before
    assert monitor._recorder.profiler._watch is None


def test_a_program_that_ends_after_the_second_step_keeps_its_profile_and_one_that_ends_sooner_has_none(
    tmp_path: Path,
) -> None:
    _, step = make_step()
    train(step, tmp_path / "six", steps=6)
    train(step, tmp_path / "five", steps=5)

    assert [entry.step for entry in open_recording(tmp_path / "six").profiles] == [6]
    assert open_recording(tmp_path / "five").profiles == ()
    assert notes_in(tmp_path / "five") == ["step 5 was not profiled: the program ended first"]


def test_the_step_is_the_first_after_warm_up_without_a_planned_census() -> None:
    assert choose_step(Schedule()) == 5
    assert choose_step(Schedule(last_step=5)) == 7
    assert choose_step(Schedule(steps=frozenset((5, 6)))) == 0
    assert choose_step(Schedule(), after=8) == 14


@pytest.mark.slow
def test_where_a_program_generates_before_it_trains_two_steps_of_the_training_are_profiled_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenure.capture.monitor.optimizer_was_made", lambda: False)

    def run(folder: Path, generated: int, profile_step: int | None = None) -> list[int]:
        model = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
        with recording(folder, profile_step=profile_step):
            for _ in range(generated):
                with torch.no_grad():
                    model(torch.randn(16, 8))
            optimizer = torch.optim.AdamW(model.parameters())
            for _ in range(12):
                model(torch.randn(16, 8)).square().mean().backward()
                optimizer.step()
        return [entry.step for entry in open_recording(folder).profiles]

    folders = [tmp_path / name for name in ("generates", "trains", "chosen", "begins to train in the second step")]
    assert [run(folders[0], 8), run(folders[1], 0), run(folders[2], 8, 5)] == [[6, 15], [6], [6]]
    assert (run(folders[3], 5), notes_in(folders[3])) == ([11], [])
    phases = read_profile(folders[0] / open_recording(folders[0]).profiles[1].file).operations.phase.tolist()
    assert {Phase(phase) for phase in phases} >= {Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER}
    peaks = [entry.step for entry in open_recording(folders[0]).censuses if entry.moment == "peak"]
    assert (peaks, notes_in(folders[0])) == ([6, 15], [])


@pytest.mark.slow
def test_a_root_that_is_first_called_after_the_profiled_steps_has_two_steps_profiled_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[torch.optim.Optimizer] = []
    monkeypatch.setattr("tenure.capture.monitor.optimizer_was_made", lambda: bool(made))
    monkeypatch.setattr("tenure.capture.profile.profile_planning.optimizer_was_made", lambda: bool(made))

    def run(folder: Path, calls: Sequence[int], *, trains: bool = False) -> list[int]:
        models = [torch.nn.Linear(8, 8) for _ in range(3)]
        with recording(folder):
            for number, times in enumerate(calls):
                for _ in range(times):
                    with torch.no_grad():
                        models[number](torch.randn(16, 8))
            if trains:
                made.append(torch.optim.SGD(models[0].parameters(), lr=0.1))
            for _ in range(12 * trains):
                models[0](torch.randn(16, 8)).square().mean().backward()
                made[0].step()
        return [entry.step for entry in open_recording(folder).profiles]

    assert run(tmp_path / "decodes", (12, 8, 8)) == [6, 15]
    assert run(tmp_path / "alternates", (1, 20)) == [6]
    assert run(tmp_path / "trains soon", (12, 1), trains=True) == [6, 18]


def test_of_two_models_that_take_turns_without_an_optimizer_whole_turns_are_profiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in ("monitor", "profile.profile_planning"):
        monkeypatch.setattr(f"tenure.capture.{user}.optimizer_was_made", lambda: False)

    class Judge(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.reads = torch.nn.Linear(8, 64)

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return self.reads(rows).tanh()

    writer, judge = torch.nn.Linear(8, 8), Judge()
    with recording(tmp_path):
        for _ in range(8):
            draft = writer(torch.randn(16, 8))
            with torch.no_grad():
                judge(draft)

    found = open_recording(tmp_path)
    (entry,) = found.profiles
    profile = read_profile(tmp_path / entry.file)
    seen = [profile.text(int(name)) for name in profile.operations.name]
    assert [seen[: profile.second].count(name) for name in ("aten.addmm.default", "aten.tanh.default")] == [2, 1]
    assert [seen[profile.second :].count(name) for name in ("aten.addmm.default", "aten.tanh.default")] == [2, 1]
    assert [census.step for census in found.censuses if census.moment == "peak"] == [entry.step]


@pytest.mark.parametrize(("stages", "profiled"), [((12, 12), [6, 16]), ((4, 12), [6, 12]), ((12, 12, 12), [6, 16])])
def test_where_a_later_stage_trains_by_another_optimizer_two_of_its_steps_are_profiled_too_once(
    tmp_path: Path, stages: tuple[int, ...], profiled: list[int]
) -> None:
    with recording(tmp_path):
        for steps in stages:
            model = torch.nn.Linear(8, 8)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(steps):
                model(torch.randn(16, 8)).square().mean().backward()
                optimizer.step()

    assert [entry.step for entry in open_recording(tmp_path).profiles] == profiled


def test_a_time_limit_of_the_program_that_strikes_inside_our_code_is_the_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler runs between two instructions of ours; here it is called where a shape is written."""

    class TimeLimitError(Exception):
        pass

    def ring(number: int, frame: object) -> None:
        raise TimeLimitError

    model, _ = make_step()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = signal.signal(signal.SIGALRM, ring)
    limited: list[int] = []

    def step_within_limit(number: int) -> None:
        outputs = model(torch.ones(2, 8))
        if number == 4:
            monkeypatch.setattr("tenure.capture.profile.op_watch.shape_text", lambda tensor: ring(0, None))
        try:
            outputs.square().mean().backward()
            optimizer.step()
        except TimeLimitError:
            limited.append(number)
            monkeypatch.undo()

    try:
        train(step_within_limit, tmp_path)
    finally:
        signal.signal(signal.SIGALRM, before)

    assert limited == [4]
    assert notes_in(tmp_path) == ["step 5 was not profiled: TimeLimitError: "]
    assert len(open_recording(tmp_path).steps) == 7


def test_when_something_is_wanted_next_is_told_before_the_profiled_steps_and_after_them(tmp_path: Path) -> None:
    with recording(tmp_path, CensusLog(), census_at=(), profile_step=0) as monitor:
        profiler = monitor._recorder.profiler
        assert profiler.find_entry(3, 20) == 20

        profiler.plan(9)
        near = [next((at for at in range(step + 1, 20) if profiler.wants_entry(at)), 20) for step in range(12)]
        assert [profiler.find_entry(step, 20) for step in range(12)] == near


class Nested(torch.autograd.Function):
    """Runs a backward pass inside of its own; torch runs those nested deepest in a thread of its own."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, depth: int) -> torch.Tensor:
        ctx.depth = depth
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        with torch.enable_grad():
            inner = torch.ones(3, requires_grad=True)
            (Nested.apply(inner, ctx.depth - 1) if ctx.depth else inner.sinh()).sum().backward()
        return grads[0], None


@pytest.mark.slow
def test_operations_in_a_thread_of_autograds_belong_to_the_statement_that_waits_for_them(tmp_path: Path) -> None:
    """As the whole backward pass of what lies on an accelerator: such a thread has no Python frames below it."""
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(number: int) -> None:
        Nested.apply(model(torch.ones(3)), 70).sum().backward()
        optimizer.step()

    train(step, tmp_path / "run", profile_step=5)

    found = profile_in(tmp_path / "run")
    names = [found.text(name) for name in found.operations.name.tolist()]
    deepest = names.index("aten.cosh.default")
    assert Phase(int(found.operations.phase[deepest])) is Phase.BACKWARD
    site = int(found.operations.site[deepest])
    assert found.text(int(found.sites.function[site])).rpartition(".")[2] == "backward"
