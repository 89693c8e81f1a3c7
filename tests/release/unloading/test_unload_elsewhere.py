"""Modules emptied to a skeleton or moved, modules in use, and modules of unusual kinds."""

from __future__ import annotations

import asyncio
import re
import threading
from pathlib import Path

import pytest
import torch
import torch.ao.nn.quantized
from torch import nn

import tenure
from release.models import ENCODER_BYTES, TRAINED_BYTES, Encoder, tokens, train_step

LISTS_ALL_OBJECTS = True

pytestmark = pytest.mark.slow  # censuses of this whole process


def test_a_skeleton_is_left_to_be_loaded_anew() -> None:
    encoder = Encoder()
    saved = {key: value.clone() for key, value in encoder.state_dict().items()}
    expected = encoder(tokens()).detach()
    calls = []
    encoder.register_forward_hook(lambda *args: calls.append(1))

    outcome = tenure.release(encoder, to="meta")

    assert (outcome.complete, outcome.freed_bytes) == (True, ENCODER_BYTES + 4 * 3 * 32 * 4)
    assert {item.device.type for item in (*encoder.parameters(), *encoder.buffers())} == {"meta"}
    encoder.load_state_dict(saved, assign=True)
    assert (torch.equal(encoder(tokens()), expected), calls) == (True, [1])


def test_a_skeleton_keeps_its_ties() -> None:
    model = nn.Module()
    model.embedding, model.head = nn.Embedding(100, 32), nn.Linear(32, 100, bias=False)
    model.head.weight = model.embedding.weight

    tenure.release(model, to="meta")

    assert model.head.weight is model.embedding.weight


def test_what_is_moved_to_where_it_is_loses_gradients_and_graphs_and_goes_on_working() -> None:
    encoder = Encoder()
    before = encoder(tokens())
    before.sum().backward()
    weight = encoder.embedding.weight

    outcome = tenure.release(encoder, to="cpu")

    assert (outcome.complete, outcome.freed_bytes) == (True, TRAINED_BYTES)
    assert (encoder.embedding.weight is weight, weight.grad, encoder.last.grad_fn) == (True, None, None)
    assert torch.equal(encoder(tokens()), before)


def test_an_optimizer_goes_on_with_a_module_that_was_moved() -> None:
    encoder = Encoder()
    optimizer = torch.optim.AdamW(encoder.parameters())
    train_step(encoder, optimizer)

    outcome = tenure.release(encoder, optimizer, to="cpu")

    assert (outcome.complete, outcome.freed_bytes, len(optimizer.state)) == (True, TRAINED_BYTES, 5)
    train_step(encoder, optimizer)


def test_a_module_without_memory_is_no_mistake() -> None:
    with torch.device("meta"):
        encoder = Encoder()

    outcome = tenure.release(encoder)

    assert (outcome.complete, outcome.expected_bytes) == (True, 0)
    assert outcome.notes == ("its parameters and buffers were on meta, without memory",)


def test_half_of_a_module_on_meta_is_released_by_the_other_half() -> None:
    encoder = Encoder()
    encoder.embedding.to("meta")

    outcome = tenure.release(encoder, to="cpu")

    assert (outcome.complete, encoder.embedding.weight.device.type) == (True, "meta")


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_quantised_buffers_and_packed_weights_go() -> None:
    model = nn.Module()
    model.register_buffer("table", torch.quantize_per_tensor(torch.ones(64, 64), 0.1, 0, torch.quint8))
    model.packed = torch.ao.nn.quantized.Linear(64, 64)
    packed = model.packed._packed_params

    outcome = tenure.release(model)

    assert (outcome.complete, outcome.freed_bytes) == (True, 64 * 64)
    assert "_packed_params" not in vars(packed)
    assert outcome.notes == ("a module kept packed weights in C++, which go too: nobody tells how many bytes",)


def test_sparse_and_half_precision_tensors_are_counted_by_their_parts() -> None:
    model = nn.Linear(64, 64, bias=False).half()
    model.register_buffer("mask", torch.eye(64).to_sparse())

    outcome = tenure.release(model)

    assert (outcome.complete, outcome.freed_bytes) == (True, 64 * 64 * 2 + 64 * 4 + 2 * 64 * 8)


def test_a_module_made_in_inference_mode_is_released() -> None:
    with torch.inference_mode():
        encoder = Encoder()
        encoder(tokens())

    assert tenure.release(encoder, to="meta").complete


def test_recurrent_modules_lose_their_flat_list_of_weights() -> None:
    model = nn.LSTM(8, 8)

    assert tenure.release(model, to="meta").complete
    assert {item.device.type for item in model._flat_weights} == {"meta"}
    assert tenure.release(nn.LSTM(8, 8)).complete


def test_a_module_whose_parameters_have_no_shape_yet_is_released() -> None:
    model = nn.Sequential(nn.LazyLinear(8), nn.Linear(8, 8))

    outcome = tenure.release(model)

    assert (outcome.complete, outcome.freed_bytes) == (True, 72 * 4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_is_refused_and_goes_on_working() -> None:
    model = nn.Sequential(torch.jit.script(nn.Linear(8, 8)))

    with pytest.raises(tenure.ReleaseError, match=r"Sequential\.0 is TorchScript, which keeps its tensors in C"):
        tenure.release(model)

    assert model(torch.ones(1, 8)).shape == (1, 8)


def test_a_data_parallel_wrapper_gives_up_what_its_reducer_holds(tmp_path: Path) -> None:
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/ranks", rank=0, world_size=1)
    try:
        model = nn.parallel.DistributedDataParallel(nn.Linear(8, 8))
        model(torch.ones(1, 8)).sum().backward()

        outcome = tenure.release(model)
    finally:
        torch.distributed.destroy_process_group()

    assert (outcome.complete, outcome.freed_bytes) == (True, 2 * 72 * 4)


def test_a_parameter_that_only_a_reducer_holds_is_told_without_advice(tmp_path: Path) -> None:
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/ranks", rank=0, world_size=1)
    try:
        model = nn.parallel.DistributedDataParallel(nn.Linear(8, 8))

        outcome = tenure.release(model.module)
    finally:
        torch.distributed.destroy_process_group()

    assert not outcome.complete
    assert "reducer" in "".join(outcome.survivors[0].path), outcome


@pytest.mark.slow
def test_a_compiled_module_is_released_by_its_wrapper() -> None:
    model = torch.compile(nn.Linear(8, 8), backend="eager")
    model(torch.ones(1, 8))

    outcome = tenure.release(model)

    assert (outcome.complete, outcome.freed_bytes) == (True, 72 * 4)


def test_the_state_of_an_optimizer_that_keeps_lists_goes() -> None:
    model = nn.Linear(8, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
    targets = torch.arange(4.0)[:, None]

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (model(torch.eye(4, 8)) - targets).square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    optimizer.step(closure)
    kept = [item.untyped_storage().nbytes() for item in optimizer.state[model.weight]["old_dirs"]]

    outcome = tenure.release(model, optimizer)

    assert outcome.complete
    assert outcome.freed_bytes > 2 * 9 * 4 + sum(kept) > 2 * 9 * 4


def test_what_is_moved_inside_inference_mode_is_trained_afterwards() -> None:
    encoder = Encoder()
    with torch.inference_mode():
        tenure.release(encoder, to="cpu")
        with tenure.loaded(encoder, "cpu"):
            pass

    encoder(tokens()).sum().backward()

    assert encoder.embedding.weight.grad is not None


def test_hooks_can_be_registered_again_where_an_ordered_dict_was_emptied() -> None:
    encoder = Encoder()
    encoder.register_forward_hook(lambda *args: None)

    tenure.release(encoder)
    handle = encoder.register_forward_hook(print)

    assert list(encoder._forward_hooks.values()) == [print]
    handle.remove()
    assert list(encoder._forward_hooks.items()) == []


def test_parametrized_modules_are_released() -> None:
    model = nn.utils.parametrizations.weight_norm(nn.Linear(8, 8))

    outcome = tenure.release(model)

    assert (outcome.complete, outcome.freed_bytes) == (True, (8 + 8 + 64) * 4)


def test_a_release_inside_a_backward_is_refused() -> None:
    encoder, answers = Encoder(), []

    def hook(gradient: torch.Tensor) -> None:
        with pytest.raises(tenure.ReleaseError, match="a backward is running") as caught:
            tenure.release(encoder)
        answers.append(str(caught.value))

    result = encoder(tokens())
    result.register_hook(hook)
    result.sum().backward()

    assert (len(answers), encoder.embedding.weight.grad is not None) == (1, True)


def test_a_release_inside_the_modules_own_forward_is_refused() -> None:
    class Impatient(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

        def forward(self) -> torch.Tensor:
            tenure.release(self)
            return self.weight

    model = Impatient()

    with pytest.raises(tenure.ReleaseError, match=r"this thread runs .*Impatient.forward \(test_unload_elsewhere.py:"):
        model()
    assert model.weight.sum().item() == 3.0


def test_a_release_while_another_thread_is_inside_a_call_is_refused() -> None:
    class Slow(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(3, 1, bias=False)
            nn.init.ones_(self.inner.weight)
            self.entered, self.go_on = threading.Event(), threading.Event()

        def forward(self) -> torch.Tensor:
            self.entered.set()
            self.go_on.wait(60)
            return self.inner(torch.ones(3))

    model, results = Slow(), []
    thread = threading.Thread(target=lambda: results.append(model().item()), name="server")
    thread.start()
    model.entered.wait(60)
    try:
        for used in (model, model.inner):
            with pytest.raises(tenure.ReleaseError, match=r"thread server runs .*Slow.forward"):
                tenure.release(used)
    finally:
        model.go_on.set()
        thread.join()

    assert results == [3.0]
    del thread
    assert tenure.release(model).complete


def test_a_release_from_another_thread_while_the_main_one_waits_is_done() -> None:
    async def unload() -> bool:
        encoder = Encoder()
        outcome = await asyncio.to_thread(tenure.release, encoder)
        return outcome.complete

    assert asyncio.run(unload())


def test_a_holder_that_takes_no_assignment_lets_go_all_the_same() -> None:
    class Holder:
        __slots__ = ("module",)

        def __setattr__(self, key: str, value: object) -> None:
            raise AttributeError("read only")

    encoder, holder = Encoder(), Holder()
    object.__setattr__(holder, "module", encoder)

    outcome = tenure.release(encoder, holder)

    assert (outcome.complete, holder.module) == (True, None)


def test_two_threads_that_release_one_module_both_get_a_clear_answer() -> None:
    encoder, outcomes = Encoder(), []
    barrier = threading.Barrier(2)

    def release() -> None:
        barrier.wait(60)
        outcomes.append(tenure.release(encoder))

    threads = [threading.Thread(target=release) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcome.freed_bytes for outcome in outcomes) == [0, ENCODER_BYTES]
    assert sorted(len(outcome.notes) for outcome in outcomes) == [0, 1]
    assert all(outcome.complete for outcome in outcomes)


def test_threads_that_release_modules_of_their_own_do_not_see_each_others_looks_as_owners() -> None:
    encoders = [Encoder() for _ in range(4)]
    outcomes: list[tenure.Outcome] = []
    threads = [threading.Thread(target=lambda each=each: outcomes.append(tenure.release(each))) for each in encoders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [(outcome.complete, outcome.survivors) for outcome in outcomes] == [(True, ())] * 4


def test_an_error_inside_the_act_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    import tenure.release.unloading.unload as unload

    encoder = Encoder()
    optimizer = torch.optim.AdamW(encoder.parameters())
    train_step(encoder, optimizer)
    pipeline = {"text": encoder}
    before = {key: value.clone() for key, value in encoder.state_dict().items()}

    def broken(changes: object, module: nn.Module, name: str, place: str) -> None:
        changes.add(lambda: 1 / 0, lambda: None)

    monkeypatch.setattr(unload, "close", broken)
    with pytest.raises(ZeroDivisionError):
        tenure.release(encoder, optimizer, pipeline)

    assert (pipeline, len(optimizer.state), len(optimizer.param_groups[0]["params"])) == ({"text": encoder}, 5, 5)
    assert all(torch.equal(value, before[key]) for key, value in encoder.state_dict().items())
    assert (encoder.last is not None, encoder.embedding.weight.grad is not None) == (True, True)
    train_step(encoder, optimizer)


def test_an_outcome_names_the_line_of_a_variable_that_still_has_the_module() -> None:
    encoder = Encoder()

    outcome = tenure.release(encoder)

    (name,) = outcome.still_bound
    assert re.fullmatch(
        r"local variable `encoder` in test_an_outcome_names_the_line_of_a_variable_that_still_has_the_module "
        r"\(test_unload_elsewhere.py:\d+\)",
        name,
    )
