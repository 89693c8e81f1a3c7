from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from tenure.capture.faking.fake_memory import LEAST_FAKE_BYTES, FakeMemory, begin_fake_memory
from tenure.capture.tensors.fakes import fakes_in_force
from tenure.capture.tensors.storages import bytes_of

TIB = 1 << 40


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    made = begin_fake_memory()
    yield made
    made.end()


def test_a_model_of_many_tebibytes_trains_with_the_sizes_that_it_would_have(memory: FakeMemory) -> None:
    model = nn.Linear(1 << 20, 1 << 20, bias=False)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.randn(2, 1 << 20)).square().mean().backward()
    optimizer.step()

    state = optimizer.state[model.weight]
    assert [bytes_of(each) for each in (model.weight, model.weight.grad, state["exp_avg"])] == [4 * TIB] * 3
    assert state["step"].item() == 1.0


def test_what_is_small_and_no_parameter_has_its_values(memory: FakeMemory) -> None:
    lengths = torch.tensor([3, 1, 2])

    assert [index.tolist() for index in (lengths.nonzero()[:, 0], lengths.sort().values)] == [[0, 1, 2], [1, 2, 3]]
    assert [memory.is_fake(each) for each in (lengths, nn.Parameter(torch.ones(2)))] == [False, True]


@pytest.mark.parametrize(("more", "is_fake"), [(-1, False), (0, True)])
def test_what_is_made_with_a_mebibyte_or_more_is_fake(more: int, is_fake: bool, memory: FakeMemory) -> None:
    size = LEAST_FAKE_BYTES + more
    made = torch.zeros(size, dtype=torch.int8)
    grown = torch.ones(1, dtype=torch.int8).repeat(size)

    assert (memory.is_fake(made), memory.is_fake(grown)) == (is_fake, is_fake)


def test_views_of_one_tensor_with_values_share_a_storage_as_parameters(memory: FakeMemory) -> None:
    whole = torch.ones(4, 2)
    first, last = nn.Parameter(whole[:2]), nn.Parameter(whole[2:])

    assert first.untyped_storage()._cdata == last.untyped_storage()._cdata
    assert bytes_of(first) == 32


def test_a_tensor_with_values_that_fakes_are_written_into_stays_itself(memory: FakeMemory) -> None:
    norm = nn.BatchNorm1d(3)
    before = norm.running_mean

    norm(torch.randn(4, 3) * nn.Parameter(torch.ones(3)))

    assert norm.running_mean is before
    assert [before.tolist(), norm.num_batches_tracked.item()] == [[0.0, 0.0, 0.0], 1]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ("probe.nonzero()", "what aten.nonzero.default gives depends on values, and fake tensors have none"),
        ("probe[probe > 0]", "what aten.index.Tensor gives depends on values, and fake tensors have none"),
        ("probe.unique()", "what aten._unique2.default gives depends on values, and fake tensors have none"),
    ],
)
def test_a_size_that_depends_on_values_ends_the_program_with_its_line(made: str, why: str, memory: FakeMemory) -> None:
    probe = nn.Parameter(torch.ones(5)).detach()
    code = compile(f"\n\n{made}", "route.py", "exec")

    with pytest.raises(SystemExit) as error:
        exec(code, {"probe": probe})

    assert str(error.value) == f"not with fake tensors: route.py:3 in <module>: {why}"


def test_an_operation_without_a_rule_for_shapes_ends_the_program_with_its_name(memory: FakeMemory) -> None:
    with torch.library._scoped_library("tenure_test", "DEF") as library:
        library.define("odd(Tensor x) -> Tensor")
        library.impl("odd", lambda x: x.clone(), "CPU")

        with pytest.raises(SystemExit, match=r"torch has no rule for the shapes that tenure_test\.odd\.default gives"):
            torch.ops.tenure_test.odd(nn.Parameter(torch.ones(5)).detach())


def test_a_custom_operation_without_a_fake_one_is_told_with_its_line_and_what_to_do(memory: FakeMemory) -> None:
    with torch.library._scoped_library("tenure_test", "FRAGMENT"):
        named = {"mutates_args": (), "schema": "(Tensor x) -> Tensor"}
        twice = torch.library.custom_op("tenure_test::twice", lambda x: x * 2, **named)
        code = compile("\ntwice(probe)", "kernels.py", "exec")

        with pytest.raises(SystemExit) as error:
            exec(code, {"twice": twice, "probe": nn.Parameter(torch.ones(5)).detach()})

    assert str(error.value) == (
        "not with fake tensors: kernels.py:2 in <module>: torch has no rule for the shapes that "
        "tenure_test.twice.default gives: register one with torch.library.register_fake, or leave out --fake"
    )


def test_an_error_of_the_program_is_its_own(memory: FakeMemory) -> None:
    with pytest.raises(RuntimeError, match="reduction dim"):
        nn.Linear(3, 4)(torch.ones(2, 5))


def test_checkpointing_autocast_and_clipping_work_on_fakes(memory: FakeMemory) -> None:
    from torch.utils.checkpoint import checkpoint

    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 2))
    with torch.autocast("cpu", torch.bfloat16):
        result = checkpoint(model, torch.randn(4, 8), use_reentrant=False)
    F.cross_entropy(result.float(), torch.randint(2, (4,))).backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)

    assert (result.dtype, memory.is_fake(norm), bytes_of(model[0].weight.grad)) == (torch.bfloat16, True, 256)


def test_a_fake_mode_of_the_program_itself_is_left_alone(memory: FakeMemory) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        own = torch.ones(2) + 1

    fakes = fakes_in_force()
    assert fakes is not None
    assert [memory.is_fake(own), fakes.has(own), tuple(own.shape)] == [False, False, (2,)]


def test_after_its_end_everything_is_as_before() -> None:
    before = (torch.load, nn.Parameter.__new__, fakes_in_force())
    begin_fake_memory().end()

    assert (torch.load, nn.Parameter.__new__, fakes_in_force()) == before
    assert type(nn.Parameter(torch.ones(1))) is nn.Parameter
