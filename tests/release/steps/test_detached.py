"""Containers that take tensors in without their graphs."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tenure.errors import UsageError
from tenure.release.steps.detached import DetachedDeque, DetachedDict, DetachedList, HistoryOutcome, detached


@pytest.fixture
def loss(device: str) -> torch.Tensor:
    return torch.ones(3, requires_grad=True, device=device).sum()


def graphs_in(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return int(value.grad_fn is not None)
    return sum(map(graphs_in, value.values() if isinstance(value, dict) else value))


def test_every_way_into_a_list_leaves_the_graph_behind(loss: torch.Tensor) -> None:
    history = detached([loss])
    history.append(loss)
    history.extend(each for each in (loss, loss))
    history.insert(0, loss)
    history += [{"loss": loss, "more": (loss, [loss])}]
    history[0] = loss
    history[1:2] = [loss, loss]

    assert isinstance(history, DetachedList)
    assert (len(history), history.num_cut) == (7, 11)
    assert float(history[0]) == 3.0
    assert sum(map(graphs_in, history)) == 0


@pytest.mark.slow
def test_what_was_cut_and_who_holds_it_still_is_told(loss: torch.Tensor) -> None:
    history = detached([])
    empty = history.outcome
    history.append(loss)
    history.append(loss.detach())
    copied = pickle.loads(pickle.dumps(history)), copy.deepcopy(history)
    told = history.outcome

    assert (empty, empty.survivors) == (HistoryOutcome(), ())
    assert told == HistoryOutcome(num_cut=1, before_bytes=4, after_bytes=4)
    assert [(each.what, each.bytes) for each in told.survivors] == [("a tensor that was taken in", 4)]
    assert [each.outcome for each in copied] == [HistoryOutcome(num_cut=1, before_bytes=4)] * 2


def test_what_is_gone_after_it_was_taken_in_does_not_survive() -> None:
    weight = torch.ones((), requires_grad=True)
    history = detached(deque(maxlen=3))
    for step in range(40):
        history.append(weight * step)

    assert history.outcome == HistoryOutcome(num_cut=40, before_bytes=160)
    assert history.outcome.survivors == ()


def test_every_way_into_a_dict_leaves_the_graph_behind(loss: torch.Tensor) -> None:
    history = detached({"first": loss})
    history["second"] = loss
    history.update({"third": loss}, fourth=loss)
    history.setdefault("fifth", loss)
    history |= {"sixth": loss}

    assert isinstance(history, DetachedDict)
    assert (list(history), history.num_cut) == (["first", "second", "third", "fourth", "fifth", "sixth"], 6)
    assert graphs_in(history) == 0


def test_every_way_into_a_deque_leaves_the_graph_behind_and_its_bound_holds(loss: torch.Tensor) -> None:
    history = detached(deque([loss], maxlen=4))
    history.append(loss)
    history.appendleft(loss)
    history.extend([loss])
    history.extendleft([loss])
    history[0] = loss
    history.pop()
    history.insert(1, loss)
    history += [loss]

    assert isinstance(history, DetachedDeque)
    assert (len(history), history.maxlen, history.num_cut) == (4, 4, 8)
    assert graphs_in(history) == 0


def test_the_graph_behind_a_value_taken_in_is_freed_with_the_step(device: str) -> None:
    history = detached([])
    hidden = torch.ones(3, requires_grad=True, device=device) * 2
    seen = weakref.ref(hidden)
    gc.disable()
    try:
        history.append(hidden.square().sum())
        del hidden
        assert seen() is None
    finally:
        gc.enable()


def test_a_small_view_of_a_large_storage_is_copied_and_a_whole_tensor_is_shared(device: str) -> None:
    wide = torch.arange(1000.0, device=device)
    head, whole = detached([wide[:2], wide])

    assert (head.tolist(), head.untyped_storage().nbytes()) == ([0.0, 1.0], 8)
    assert whole.data_ptr() == wide.data_ptr()


def test_the_original_is_left_as_it_is_and_copies_are_containers_of_the_same_kind(loss: torch.Tensor) -> None:
    mine = [loss]
    history = detached(mine)

    assert mine[0] is loss
    assert type(copy.deepcopy(history)) is DetachedList
    assert pickle.loads(pickle.dumps(detached({"loss": loss}))) == {"loss": 3.0}
    assert type(copy.copy(detached(deque([1], maxlen=2)))) is DetachedDeque


@pytest.mark.parametrize(("make", "what"), [(lambda: torch.ones(2), "a tensor"), (int, "a int"), (str, "a str")])
def test_what_is_no_container_is_refused(make: Callable[[], Any], what: str) -> None:
    with pytest.raises(UsageError, match=f"takes a list, dict or deque; {what} was given"):
        detached(make())
