"""The reader for old torch, compared with what the graph is known to have saved; it works on newer torch as well."""

from __future__ import annotations

import threading

import pytest
import torch
from torch.autograd.graph import save_on_cpu

from tenure.capture.heap import autograd, saved_variables


@pytest.fixture
def reader() -> saved_variables.Reader:
    found = saved_variables.reader()
    if found is None:
        pytest.skip("this torch shows saved tensors itself")
    return found


def test_every_torch_can_be_read_in_one_way_or_the_other() -> None:
    read, why_unread = autograd.how_to_read()

    node = torch.zeros(3, requires_grad=True).exp().grad_fn
    (slot,) = autograd.saved_slots(node, read)

    assert why_unread == ""
    assert (slot.label, slot.data.tolist(), slot.unpack_hook) == ("result", [1.0, 1.0, 1.0], None)


def test_an_input_is_the_saved_tensor_itself_and_an_output_shares_its_storage(reader: saved_variables.Reader) -> None:
    left, right = torch.ones(4, requires_grad=True), torch.ones(4, requires_grad=True)
    product, power = left * right, left.exp()

    assert reader.read(product.grad_fn._raw_saved_self) == (left, None)
    assert reader.read(product.grad_fn._raw_saved_other)[0] is right
    output, hook = reader.read(power.grad_fn._raw_saved_result)
    assert (torch._C._storage_id(output), hook) == (torch._C._storage_id(power), None)


def test_a_freed_slot_and_an_empty_one_are_empty(reader: saved_variables.Reader) -> None:
    left = torch.ones(4, requires_grad=True)
    half_empty, freed = left * torch.ones(4), left.exp()
    freed.sum().backward()

    assert reader.read(half_empty.grad_fn._raw_saved_self) == (None, None)
    assert reader.read(freed.grad_fn._raw_saved_result) == (None, None)


def test_a_tensor_changed_in_place_since_is_read_all_the_same(reader: saved_variables.Reader) -> None:
    left = torch.ones(4, requires_grad=True)
    power = left.exp()
    power.data.add_(1)
    power.detach().add_(1)

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        power.grad_fn._saved_result
    assert torch._C._storage_id(reader.read(power.grad_fn._raw_saved_result)[0]) == torch._C._storage_id(power)


def test_a_hook_is_not_run_and_what_it_packed_is_told(reader: saved_variables.Reader) -> None:
    calls, packed = [], object()

    def unpack(item: object) -> torch.Tensor:
        calls.append(item)
        return torch.ones(4)

    left = torch.ones(4, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda _: packed, unpack):
        power = left.exp()
    with save_on_cpu():
        copied = left.exp()

    assert reader.read(power.grad_fn._raw_saved_result) == (packed, unpack)
    assert calls == []
    (device, copy), hook = reader.read(copied.grad_fn._raw_saved_result)
    assert (device.type, copy.tolist(), callable(hook)) == ("cpu", copied.tolist(), True)


def test_learning_meets_none_of_the_programs_hooks_and_modes() -> None:
    def refuse(_: object) -> object:
        raise AssertionError("not ours to pack")

    saved_variables.reader.cache_clear()
    with torch.autograd.graph.saved_tensors_hooks(refuse, refuse), torch.inference_mode():
        inside = saved_variables.reader()
    saved_variables.reader.cache_clear()

    assert (inside is None) == (saved_variables.reader() is None)


def test_a_backward_pass_in_another_thread_is_seen() -> None:
    inside, go_on = threading.Event(), threading.Event()
    total = torch.zeros(1, requires_grad=True).exp()
    total.register_hook(lambda _: (inside.set(), go_on.wait())[0] and None)
    thread = threading.Thread(target=lambda: total.sum().backward())

    before = saved_variables.is_backward_running()
    thread.start()
    inside.wait()
    during = saved_variables.is_backward_running()
    go_on.set()
    thread.join()

    assert (before, during, saved_variables.is_backward_running()) == (False, True, False)


def test_where_torch_tells_itself_both_ways_tell_the_same(reader: saved_variables.Reader) -> None:
    if not hasattr(torch._C._autograd.SavedTensor, "data"):
        pytest.skip("this torch does not")
    layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.LayerNorm(8), torch.nn.Softmax(-1))
    walk = autograd.GraphWalk((), budget=100)
    walk.walk_tensors([layers(torch.randn(3, 4)).sum()])

    told = [_slots(visited.node, lambda raw: (raw.data, raw.unpack_hook)) for visited in walk.nodes]

    assert [_slots(visited.node, reader.read) for visited in walk.nodes] == told
    assert sum(map(len, told)) > 5


def _slots(node: object, read: autograd.ReadSlot) -> list[tuple[str, object, object]]:
    return [
        (slot.label, None if slot.data is None else torch._C._storage_id(slot.data), slot.unpack_hook)
        for slot in autograd.saved_slots(node, read)
    ]
