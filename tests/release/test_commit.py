"""Changes that are made all at once, or not at all."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

import pytest
import torch
from torch import nn

from release.models import Encoder, tokens
from tenure.release.commit import Changes
from tenure.release.unloading.moving import Moves
from tenure.release.unloading.slots import modules_below, slots_of


def fail() -> None:
    raise MemoryError("no room")


def test_nothing_is_touched_before_the_changes_are_made() -> None:
    table = {"a": 1, "b": 2}
    changes = Changes()
    changes.set_entry(table, "a", 3)
    changes.remove_entry(table, "b")

    assert table == {"a": 1, "b": 2}
    changes.make()
    assert table == {"a": 3}


@pytest.mark.parametrize(
    ("container", "contents"),
    [
        ([1, 2, 3], [2]),
        ({"a": 1, "b": 2}, {"b": 2}),
        (OrderedDict(a=1, b=2), {"b": 2}),
        ({1, 2}, [2]),
        (deque([1, 2, 3]), [3]),
    ],
)
def test_a_failure_puts_every_container_back(container: Any, contents: Any) -> None:
    before = container.copy()
    changes = Changes()
    changes.replace_contents(container, contents)
    changes.add(fail, lambda: None)

    with pytest.raises(MemoryError):
        changes.make()

    assert container == before
    assert list(container) == list(before)


def test_a_failure_puts_tensors_and_gradients_back() -> None:
    model = nn.Linear(2, 2)
    model(torch.ones(1, 2)).sum().backward()
    weight, gradient, data = model.weight, model.weight.grad, model.weight.data_ptr()
    changes = Changes()
    changes.set_gradient(weight, None)
    changes.set_data(weight, torch.zeros(2, 2))
    changes.add(fail, lambda: None)

    with pytest.raises(MemoryError):
        changes.make()

    assert (weight.grad is gradient, weight.data_ptr()) == (True, data)


def test_a_copy_that_fails_leaves_a_module_as_it_was() -> None:
    encoder = Encoder()
    before, places = encoder(tokens()).detach(), [item.data_ptr() for item in encoder.parameters()]
    asked = []

    def device_of(name: str, tensor: torch.Tensor) -> torch.device:
        asked.append(name)
        if len(asked) == 3:
            fail()
        return torch.device("meta")

    with pytest.raises(MemoryError):
        Moves(Changes(), device_of).move_slots(slots_of(modules_below([encoder]).values()))

    assert [item.data_ptr() for item in encoder.parameters()] == places
    assert torch.equal(encoder(tokens()), before)


def test_lists_and_dicts_stay_the_objects_that_they_are() -> None:
    inner = [torch.ones(2, requires_grad=True) * 2]
    table = {"hidden": inner, "step": 3}
    changes = Changes()

    moved = Moves(changes, lambda name, tensor: torch.device("cpu")).moved(table, "cache")
    changes.make()

    assert (moved is table, table["hidden"] is inner, inner[0].grad_fn, inner[0].tolist()) == (
        True,
        True,
        None,
        [2.0, 2.0],
    )
