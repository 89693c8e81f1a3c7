"""From real torch programs to suspects: censuses at the end of a step and at the entry of the next forward."""

from __future__ import annotations

import copy
import gc
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from tenure.analysis.suspects import find_suspects  # noqa: E402
from tenure.capture.heap.census import take_census  # noqa: E402
from tenure.model.heap import Census  # noqa: E402
from tenure.model.suspect import GRADIENTS_IN_TURN, Suspect  # noqa: E402
from tenure.store.census_file import read_census, write_census  # noqa: E402

pytestmark = pytest.mark.slow

STEPS = (1, 2, 3, 4, 6, 8)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(64, 256)
        self.second = torch.nn.Linear(256, 64)

    def forward(self, inputs: Any) -> Any:
        return self.second(torch.relu(self.first(inputs)))

    def loss(self) -> Any:
        return self(torch.randn(128, 64)).pow(2).mean()


class LossKeepingItsGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Any) -> Any:
        ctx.grads = torch.ones(300, 300)
        ctx.size = inputs.shape
        return inputs.sum()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient.expand(ctx.size)


class Watch:
    """Takes censuses as the recorder does: after some steps, and when the next forward is entered.

    They go to files, as the recorder's do: kept in memory they would be growing host memory themselves.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.num_censuses = 0
        self.net = Net()
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.step, self.due = 0, False
        self.net.register_forward_pre_hook(lambda module, inputs: self.enter(inputs))

    def enter(self, inputs: object) -> None:
        if self.due:
            self.due = False
            self.take("forward-entry", inputs)

    def end_step(self) -> None:
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1
        self.due = self.step in STEPS
        if self.due:
            self.take("step-end", None)

    def take(self, moment: str, inputs: object) -> None:
        taken = take_census(
            step=self.step,
            moment=moment,
            inputs=inputs,
            optimizers=[self.optimizer],
            ignore=(self, self.__dict__),
        )
        write_census(self.folder / f"{self.num_censuses:03}.npz", taken)
        self.num_censuses += 1

    def read_back(self) -> list[Census]:
        return [read_census(self.folder / f"{number:03}.npz") for number in range(self.num_censuses)]


@contextmanager
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


def suspects_of(program: Callable[[Watch], None]) -> tuple[Suspect, ...]:
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(Path(folder))
        with no_collector():
            program(watch)
        return find_suspects(watch.read_back())


def told(suspect: Suspect) -> tuple[str, list[str]]:
    return suspect.symptom, [reference.expression for reference in suspect.cut]


def test_a_plain_loop_has_no_suspect() -> None:
    def program(watch: Watch) -> None:
        for _ in range(9):
            inputs = torch.randn(128, 64)
            loss = watch.net(inputs).pow(2).mean()
            loss.backward()
            watch.end_step()

    assert suspects_of(program) == ()


def test_retval_and_loss_over_the_next_forward() -> None:
    def program(watch: Watch) -> None:
        for _ in range(9):
            retval = {"loss": LossKeepingItsGradient.apply(watch.net(torch.randn(128, 64)))}
            loss = retval["loss"]
            stats = {"loss": loss.detach()}  # noqa: F841
            loss.backward()
            watch.end_step()

    (suspect,) = suspects_of(program)

    assert told(suspect) == ("peak", ["retval", "loss"])
    assert (suspect.through_graph, suspect.graph_freed) == (True, True)
    assert (suspect.facts["ctx_type"], suspect.facts["ctx_attribute"]) == ("LossKeepingItsGradientBackward", "grads")
    assert suspect.facts["left_on_ctx"]
    assert suspect.retained_bytes == 300 * 300 * 4


def test_a_list_of_losses_keeps_their_graphs() -> None:
    def program(watch: Watch) -> None:
        kept = []
        for _ in range(9):
            loss = watch.net.loss()
            loss.backward()
            kept.append(loss)
            watch.end_step()

    (suspect,) = suspects_of(program)

    assert told(suspect) == ("growth", ["kept[*]"])
    assert (suspect.holder.kind, suspect.holder.element, suspect.scalars) == ("local", True, True)
    assert (suspect.through_graph, suspect.graph_freed) == (True, True)


def test_a_sum_of_losses() -> None:
    def program(watch: Watch) -> None:
        total: Any = 0
        for _ in range(9):
            loss = watch.net.loss()
            loss.backward()
            total = total + loss
            watch.end_step()

    (suspect,) = suspects_of(program)

    assert told(suspect) == ("growth", ["total"])
    assert (suspect.through_graph, suspect.graph_freed) == (True, True)


class Scaling(torch.nn.Module):
    """Makes a layer for each batch and never takes one out."""

    def __init__(self, container: torch.nn.Module) -> None:
        super().__init__()
        self.frames = container

    def encode(self, number: int) -> None:
        if isinstance(self.frames, torch.nn.ModuleDict):
            self.frames[f"fit_{number}"] = torch.nn.Linear(64, 64)
        else:
            self.frames.append(torch.nn.Linear(64, 64))


@pytest.mark.parametrize("container", [torch.nn.ModuleDict, torch.nn.ModuleList])
def test_a_container_of_modules_that_gains_some_is_told_by_its_own_attribute(container: Any) -> None:
    def program(watch: Watch) -> None:
        scaling = Scaling(container())
        for number in range(9):
            watch.net.loss().backward()
            scaling.encode(number)
            watch.end_step()

    (suspect,) = suspects_of(program)

    assert told(suspect) == ("growth", ["scaling.frames[*]"])
    assert (suspect.holder.name, suspect.holder.owner_type.rpartition(".")[2]) == ("frames", "Scaling")
    assert suspect.copies_of == "torch.nn.modules.linear.Linear"


def test_gradients_of_one_input_after_the_other_are_told_as_such() -> None:
    def program(watch: Watch) -> None:
        deltas = [torch.zeros(32, 64).requires_grad_() for _ in range(9)]
        for delta in deltas:
            watch.net(delta).pow(2).mean().backward()
            watch.end_step()

    (suspect,) = suspects_of(program)

    assert told(suspect) == ("growth", ["deltas"])
    assert suspect.facts[GRADIENTS_IN_TURN] == 7


def test_detached_elements_pin_the_outputs() -> None:
    def program(watch: Watch) -> None:
        log = []
        for _ in range(9):
            outputs = watch.net(torch.randn(128, 64))
            outputs.pow(2).mean().backward()
            log.append(outputs.detach()[0, 0])
            watch.end_step()

    (suspect,) = suspects_of(program)

    assert told(suspect) == ("growth", ["log[*]"])
    assert (suspect.scalars, suspect.through_graph, suspect.pinned_bytes) == (True, False, 7 * (128 * 64 - 1) * 4)


def test_a_hook_that_keeps_activations_in_a_closure() -> None:
    def program(watch: Watch) -> None:
        seen = []
        watch.net.first.register_forward_hook(lambda module, inputs, output: seen.append(output))
        for _ in range(9):
            watch.net.loss().backward()
            watch.end_step()

    (suspect,) = suspects_of(program)

    assert told(suspect) == ("growth", ["seen[*]"])
    assert suspect.growth_bytes_per_step == 128 * 256 * 4


class Tap:
    """Listens to a layer for as long as it likes."""

    def __init__(self, layer: torch.nn.Module) -> None:
        self.seen: Any = None
        layer.register_forward_hook(self.note)

    def note(self, layer: torch.nn.Module, inputs: object, output: Any) -> None:
        self.seen = output.tanh()


def test_hooks_that_come_to_one_layer_after_the_other_are_the_hooks_not_what_each_has_seen() -> None:
    """The layers whose table of hooks holds memory become more as well, for as long as there are others."""

    def program(watch: Watch) -> None:
        layers = [torch.nn.Linear(64, 64) for _ in range(9)]
        for step in range(9):
            Tap(layers[step])
            Tap(layers[0])
            hidden = torch.randn(128, 64)
            for layer in layers:
                hidden = layer(hidden)
            watch.net(hidden).pow(2).mean().backward()
            watch.end_step()

    (suspect,) = suspects_of(program)

    assert (suspect.symptom, suspect.holder.kind, suspect.holder.name) == ("growth", "hook", "_forward_hooks")
    assert suspect.growth_objects_per_step == 2.0


def test_copies_of_a_model() -> None:
    def program(watch: Watch) -> None:
        best = []
        for _ in range(9):
            watch.net.loss().backward()
            watch.end_step()
            best.append(copy.deepcopy(watch.net.first))

    (suspect,) = suspects_of(program)

    assert (told(suspect), suspect.copies_of) == (("growth", ["best[*]"]), "torch.nn.modules.linear.Linear")


def test_a_list_emptied_every_five_steps() -> None:
    def program(watch: Watch) -> None:
        kept: list[Any] = []
        for _ in range(9):
            loss = watch.net.loss()
            loss.backward()
            kept.append(loss.detach())
            if len(kept) == 5:
                kept.clear()
            watch.end_step()

    (suspect,) = suspects_of(program)

    assert told(suspect) == ("sawtooth", ["kept[*]"])
    assert suspect.period_steps == 5


class Metric:
    def __init__(self) -> None:
        self.matrix = torch.zeros(100, 100)
        self.owner = self


def test_metrics_that_refer_to_themselves_wait_for_the_collector() -> None:
    def program(watch: Watch) -> None:
        for _ in range(9):
            metric = Metric()
            del metric
            watch.net.loss().backward()
            watch.end_step()

    (suspect,) = suspects_of(program)

    assert (suspect.symptom, suspect.holder.expression, suspect.retained_bytes) == ("cycle", "Metric.owner", 8 * 40000)


def fails_and_keeps_the_exception(net: Net) -> None:
    features = net(torch.randn(128, 64)).detach()
    try:
        raise ValueError(features.shape)
    except ValueError as error:
        failure = error  # noqa: F841


def test_frames_that_keep_their_exception_are_cut_at_the_variable() -> None:
    def program(watch: Watch) -> None:
        for _ in range(9):
            fails_and_keeps_the_exception(watch.net)
            watch.net.loss().backward()
            watch.end_step()

    cycles = [suspect for suspect in suspects_of(program) if suspect.symptom == "cycle"]

    assert [(suspect.holder.kind, suspect.holder.name, suspect.holder.scope_function) for suspect in cycles] == [
        ("local", "failure", "fails_and_keeps_the_exception")
    ]
    assert cycles[0].growth_bytes_per_step == 128 * 64 * 4


class Pipeline:
    encoder: Net | None = None
    cache: Any = None


def test_an_unloaded_encoder_that_a_cached_output_keeps() -> None:
    def program(watch: Watch) -> None:
        pipeline = Pipeline()
        pipeline.encoder = Net()
        for step in range(9):
            if pipeline.encoder is not None:
                pipeline.cache = [pipeline.encoder.loss()]
            if step == 5:
                pipeline.encoder = None
            watch.net.loss().backward()
            watch.end_step()

    survivors = [suspect for suspect in suspects_of(program) if suspect.symptom == "survivor"]

    assert [(told(suspect), suspect.facts["released"]) for suspect in survivors] == [
        (("survivor", ["pipeline.cache"]), "encoder")
    ]
