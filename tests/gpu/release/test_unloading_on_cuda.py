"""Modules unloaded from a device: the figures are torch's own, memory goes back to the driver, holders are named."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import tenure
from gpu.release.devices import DEVICE, MIB, counted, floats, row_of, taken
from tenure.release.outcome import DeviceBytes

pytestmark = pytest.mark.slow  # censuses of this whole process


class Decoder(nn.Module):
    """32 MiB that are trained, 16 MiB that are not; keeps the result of its last call."""

    def __init__(self, device: str = "cuda") -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8 * MIB, device=device))
        self.register_buffer("table", torch.ones(4 * MIB, device=device))
        self.last: torch.Tensor | None = None

    def forward(self, number: float) -> torch.Tensor:
        self.last = self.weight[: 4 * MIB] * self.table * number
        return self.last.mean()


@pytest.fixture(autouse=True)
def something_else() -> torch.Tensor:
    """Stays on the device in every test."""
    return taken(16)


def test_all_that_training_made_on_the_device_comes_back_as_torch_counts_it() -> None:
    empty = counted()
    decoder = Decoder()
    optimizer = torch.optim.AdamW(decoder.parameters())
    decoder(2.0).backward()
    optimizer.step()
    before = counted()
    outcome = tenure.release(decoder, optimizer)
    after = counted()

    expected = (32 * 4 + 16 + 16) * MIB  # weight, gradient, two averages; table; the last result
    assert before[0] - empty[0] >= expected
    assert outcome.complete
    assert (row_of(outcome).before_bytes, row_of(outcome).after_bytes) == (before[0], after[0])
    assert (row_of(outcome).reserved_before_bytes, row_of(outcome).reserved_after_bytes) == (before[1], after[1])
    assert row_of(outcome).freed_bytes == row_of(outcome).expected_bytes == before[0] - after[0]
    assert after == empty


def test_what_somebody_still_holds_is_named_and_the_rest_goes_back_to_the_driver() -> None:
    empty = counted()
    decoder = Decoder()
    checkpoint = {"weight": decoder.weight.detach()}
    before = counted()
    outcome = tenure.release(decoder)
    after = counted()
    (survivor,) = outcome.survivors

    assert row_of(outcome) == DeviceBytes(DEVICE, before[0], after[0], 48 * MIB, 16 * MIB, before[1], after[1])
    assert (after[0] - empty[0], after[1] - empty[1]) == (32 * MIB, 32 * MIB)
    assert (survivor.what, survivor.device, survivor.bytes) == ("`Decoder.weight`", DEVICE, 32 * MIB)
    assert "checkpoint" in "".join(survivor.path)
    assert survivor.cut[0].startswith("`checkpoint` in test_what_somebody_still_holds")
    del checkpoint["weight"]
    assert torch.cuda.memory_allocated() == empty[0]


def test_a_loss_that_is_still_bound_keeps_what_its_graph_saved_on_the_device_and_is_named() -> None:
    decoder = Decoder()
    loss = decoder(2.0)
    outcome = tenure.release(decoder)
    (survivor,) = outcome.survivors

    assert (outcome.complete, survivor.device, survivor.bytes) == (False, DEVICE, 16 * MIB)
    assert (survivor.what, survivor.path[0].startswith("local variable `loss`")) == ("`Decoder.table`", True)
    assert loss.item() == 2.0


def test_a_module_moved_to_the_host_leaves_nothing_on_the_device_and_computes_the_same() -> None:
    empty = counted()
    decoder = Decoder()
    expected = decoder(3.0).item()
    before = counted()
    outcome = tenure.release(decoder, to="cpu")
    after = counted()

    assert (outcome.complete, after) == (True, empty)
    assert row_of(outcome) == DeviceBytes(
        DEVICE, before[0], after[0], before[0] - after[0], before[0] - after[0], before[1], after[1]
    )
    assert {each.device.type for each in (decoder.weight, decoder.table, decoder.last)} == {"cpu"}
    assert decoder(3.0).item() == expected


def test_a_skeleton_of_a_module_leaves_nothing_on_the_device_and_is_loaded_anew() -> None:
    empty = counted()
    decoder = Decoder()
    saved = {name: tensor.cpu() for name, tensor in decoder.state_dict().items()}
    outcome = tenure.release(decoder, to="meta")

    assert (outcome.complete, row_of(outcome).freed_bytes, counted()) == (True, 48 * MIB, empty)
    decoder.load_state_dict({name: tensor.cuda() for name, tensor in saved.items()}, assign=True)
    assert decoder(2.0).item() == 2.0


def test_a_recurrent_module_whose_weights_lie_in_one_piece_gives_it_back() -> None:
    before = torch.cuda.memory_allocated()
    recurrent = nn.LSTM(256, 256, num_layers=2).cuda()
    taken_by_it = torch.cuda.memory_allocated() - before
    pieces = {each.untyped_storage().data_ptr() for each in recurrent.parameters()}
    outcome = tenure.release(recurrent)

    assert len(pieces) == 1
    assert (outcome.complete, outcome.survivors) == (True, ())
    assert row_of(outcome).freed_bytes == taken_by_it
    assert torch.cuda.memory_allocated() == before


def test_a_block_loads_a_module_and_takes_it_back_with_torchs_own_figures() -> None:
    decoder = Decoder("cpu")
    empty = counted()
    with tenure.loaded(decoder, "cuda") as block:
        inside = torch.cuda.memory_allocated() - empty[0]
        loss = decoder(2.0).item()
        during = counted()
    after = counted()
    row = row_of(block.outcome)

    assert (inside, loss, block.outcome.complete) == (48 * MIB, 2.0, True)
    assert (row.before_bytes, row.after_bytes, after[0]) == (during[0], after[0], empty[0])
    assert (row.expected_bytes, row.freed_bytes) == (48 * MIB, 48 * MIB)
    assert (row.reserved_before_bytes, row.reserved_after_bytes) == (during[1], after[1])
    assert {each.device.type for each in (decoder.weight, decoder.table, decoder.last)} == {"cpu"}


def test_what_a_block_leaves_on_the_device_is_told_by_who_holds_it() -> None:
    decoder = Decoder("cpu")
    empty = torch.cuda.memory_allocated()
    with pytest.warns(RuntimeWarning, match="drop `kept"), tenure.loaded(decoder, "cuda") as block:
        kept = [decoder.weight.detach()]
    (survivor,) = block.outcome.survivors

    assert (survivor.device, survivor.bytes) == (DEVICE, 32 * MIB)
    assert (row_of(block.outcome).expected_bytes, row_of(block.outcome).freed_bytes) == (48 * MIB, 16 * MIB)
    assert torch.cuda.memory_allocated() - empty == 32 * MIB
    assert kept[0].device.type == "cuda"


def test_a_recurrent_module_is_in_one_piece_in_its_block_and_all_of_it_leaves_the_device() -> None:
    recurrent, batch = nn.LSTM(64, 64), torch.ones(3, 2, 64)
    expected = recurrent(batch)[0].detach()
    before = torch.cuda.memory_allocated()
    with tenure.loaded(recurrent, "cuda") as block:
        pieces = {each.untyped_storage().data_ptr() for each in recurrent.parameters()}
    left = torch.cuda.memory_allocated() - before

    assert (len(pieces), left, block.outcome.complete) == (1, 0, True)
    assert torch.equal(recurrent(batch)[0], expected)


def test_blocks_that_call_the_same_device_by_different_names_overlap() -> None:
    decoder = Decoder("cpu")
    with tenure.loaded(decoder, "cuda"), tenure.loaded(decoder, DEVICE):
        inside = str(decoder.weight.device)

    assert (inside, decoder.weight.device.type) == (DEVICE, "cpu")


def test_a_device_that_is_not_there_is_refused_and_nothing_is_moved() -> None:
    decoder = Decoder()
    count = torch.cuda.device_count()
    with pytest.raises(tenure.ReleaseError, match=f"is no device of this process: it sees {count} CUDA devices"):
        tenure.release(decoder, to=f"cuda:{count}")

    assert str(decoder.weight.device) == DEVICE


def test_an_assertion_that_memory_goes_has_torchs_own_figures() -> None:
    ring = {"tensor": floats(32)}
    ring["itself"] = ring  # type: ignore[assignment]
    before = counted()
    with tenure.expect_freed(ring["tensor"]) as block:
        del ring
    after = counted()

    assert row_of(block.outcome) == DeviceBytes(DEVICE, before[0], after[0], 32 * MIB, 32 * MIB, before[1], after[1])
    assert before[0] - after[0] == 32 * MIB


def test_an_assertion_names_who_still_holds_memory_of_the_device() -> None:
    decoder = Decoder()
    cache = [decoder.table[:10]]
    with pytest.raises(tenure.StillHeldError) as caught, tenure.expect_freed(decoder):
        del decoder
    told = str(caught.value)

    assert "survived    16.00 MiB on cuda:0: `Decoder.table`" in told
    assert "local variable `cache`" in told
    assert "to free     drop `cache" in told
    assert len(cache) == 1


def test_memory_that_another_stream_still_uses_counts_as_freed_when_its_tensor_is_gone() -> None:
    tensor, other = floats(32), torch.cuda.Stream()
    before = torch.cuda.memory_allocated()
    with tenure.expect_freed(tensor) as block:
        with torch.cuda.stream(other):
            torch.cuda._sleep(200_000_000)
            tensor.mul_(2)
        tensor.record_stream(other)
        del tensor
    after = torch.cuda.memory_allocated()

    assert (row_of(block.outcome).before_bytes, row_of(block.outcome).after_bytes) == (before, after)
    assert row_of(block.outcome).freed_bytes == 32 * MIB
