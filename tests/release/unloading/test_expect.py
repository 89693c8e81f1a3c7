"""Assertions that something is freed: silent when it is, with the path of what holds on when it is not."""

from __future__ import annotations

import gc
import re
import weakref

import pytest
import torch
from torch import nn

import tenure
from release.models import ENCODER_BYTES, Cache, Encoder, tokens
from tenure.release.unloading.expect import NothingLeft

pytestmark = pytest.mark.slow  # censuses of this whole process


def text_of(caught: pytest.ExceptionInfo[BaseException]) -> str:
    return re.sub(r"test_expect.py:\d+", "test_expect.py:N", str(caught.value))


def test_a_module_that_goes_passes() -> None:
    encoder = Encoder()

    with tenure.expect_freed(encoder) as freed:
        del encoder

    outcome = freed.outcome
    assert outcome.what == "Encoder: all of it was freed"
    assert (outcome.complete, outcome.freed_bytes, outcome.expected_bytes) == (True, ENCODER_BYTES, ENCODER_BYTES)
    assert [each.before_bytes - each.after_bytes for each in outcome.devices] == [ENCODER_BYTES]


def test_a_second_name_is_told_with_its_path_and_what_to_drop() -> None:
    encoder = Encoder()
    cache = Cache(encoder)

    with pytest.raises(tenure.StillHeldError) as caught, tenure.expect_freed(encoder):
        del encoder

    lines = text_of(caught).splitlines()
    assert lines[0] == "Encoder: expected to be freed, and still held"
    assert lines[1].startswith("  survived    20.88 KiB on cpu in 6 storages: `Encoder.embedding.weight` and 5 more")
    assert lines[2:4] == [
        "  held by     local variable `cache` in test_a_second_name_is_told_with_its_path_and_what_to_drop "
        "(test_expect.py:N)",
        "               └─ .encoder  Encoder",
    ]
    assert any(re.fullmatch(r"  to free     drop `cache.encoder`.*", line) for line in lines)
    assert any(line.startswith("  still bound `cache.encoder`, from local variable `cache`") for line in lines)
    assert isinstance(cache.encoder, Encoder)


def test_it_is_an_assertion() -> None:
    tensor = torch.ones(8)
    kept = [tensor]

    block = tenure.expect_freed(tensor)
    with pytest.raises(AssertionError, match=r"drop `kept"), block:
        del tensor

    assert len(kept) == 1
    assert (block.outcome.complete, block.outcome.freed_bytes, block.outcome.expected_bytes) == (False, 0, 32)
    assert [each.bytes for each in block.outcome.survivors] == [32]


def test_memory_that_a_view_pins_is_held() -> None:
    tensor = torch.ones(1000)
    row = tensor.detach()[:1]

    with pytest.raises(tenure.StillHeldError, match="drop `row`"), tenure.expect_freed(tensor):
        del tensor

    assert row.numel() == 1


def test_a_graph_that_saved_a_weight_is_told() -> None:
    model = nn.Linear(8, 8)
    loss = model(torch.ones(1, 8, requires_grad=True)).sum()

    with pytest.raises(tenure.StillHeldError, match=r"drop `loss`"), tenure.expect_freed(model):
        del model

    loss.backward()


def test_a_ring_is_collected_first_unless_asked_otherwise() -> None:
    gc.disable()
    try:
        encoder = Encoder()
        encoder.ring = [encoder]
        with pytest.raises(tenure.StillHeldError, match="waits for the garbage collector"):
            with tenure.expect_freed(encoder, collect=False):
                del encoder
        encoder = Encoder()
        encoder.ring = [encoder]
        with tenure.expect_freed(encoder):
            del encoder
    finally:
        gc.enable()


def test_an_exception_of_the_block_goes_through_unchecked() -> None:
    encoder = Encoder()

    with pytest.raises(KeyError, match="mine"), tenure.expect_freed(encoder):
        raise KeyError("mine")

    assert encoder(tokens()).shape == (4, 32)


def test_modules_and_tensors_in_a_list_are_watched() -> None:
    models = [Encoder(), Encoder()]
    first = models[0]

    with pytest.raises(tenure.StillHeldError, match=r"list of 2.*still held"), tenure.expect_freed(models):
        models.clear()
    with tenure.expect_freed([first]):
        del first


def test_of_an_object_that_leads_to_no_tensor_it_is_said_that_nothing_is_known() -> None:
    class Plain:
        pass

    plain = Plain()
    plain.weight = torch.ones(3)
    kept = plain

    with pytest.raises(tenure.StillHeldError, match=r"leads to no tensor any more"), tenure.expect_freed(plain):
        del plain.weight, plain

    assert isinstance(kept, Plain)


@pytest.mark.parametrize(
    ("items", "text"),
    [((), "was given nothing"), (([],), "it holds no module and no tensor"), ((3,), "makes no weak references to it")],
)
def test_what_cannot_be_watched_is_refused(items: tuple[object, ...], text: str) -> None:
    with pytest.raises(tenure.ReleaseError, match=text):
        tenure.expect_freed(*items)


def test_watching_holds_nothing() -> None:
    encoder = Encoder()
    alive = weakref.ref(encoder)

    watch = tenure.expect_freed(encoder)
    del encoder

    assert (alive(), watch.check().complete) == (None, True)


def test_a_block_that_leaves_new_tensors_is_told_of_them_alone() -> None:
    old, kept = torch.ones(4), []
    block = NothingLeft()
    kept.append(torch.ones(8))

    with pytest.raises(tenure.StillHeldError, match=r"32 B on cpu: a Tensor \[8\] float32"):
        block.check()
    kept.clear()
    block.check()

    assert old.numel() == 4
