"""Each kind of reference is dropped in this very process: what is dropped here is the tests' own."""

from __future__ import annotations

import collections
import functools
import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tenure.capture.copies.drops import CannotDropError, describe, drop, find_objects, is_of_type
from tenure.model.experiment import Drop


class Thing:
    """Something that can be watched."""

    def __init__(self) -> None:
        self.alive = [True]


class Slotted:
    __slots__ = ("kept",)

    def __init__(self, kept: object) -> None:
        self.kept = kept


def reference(source: object, kind: str, label: str, target: object = None, *, whole: bool = False) -> Drop:
    return Drop(id(source), type(source).__name__, kind, label, id(target), whole)


def in_dict() -> tuple[object, str, str]:
    return {"first": 1, "thing": Thing()}, "ITEM", "thing"


def in_ordered_dict() -> tuple[object, str, str]:
    return collections.OrderedDict(first=1, thing=Thing()), "ITEM", "thing"


def in_list() -> tuple[object, str, str]:
    return [1, Thing()], "INDEX", "1"


def in_deque() -> tuple[object, str, str]:
    return collections.deque([1, Thing()], maxlen=4), "INDEX", "1"


def in_set() -> tuple[object, str, str]:
    return {1, Thing()}, "MEMBER", ""


def in_keys() -> tuple[object, str, str]:
    return {Thing(): 1}, "MEMBER", "key"


def in_attribute() -> tuple[object, str, str]:
    return SimpleNamespace(kept=Thing()), "ATTRIBUTE", "kept"


def in_slot() -> tuple[object, str, str]:
    return Slotted(Thing()), "ATTRIBUTE", "kept"


def in_class() -> tuple[object, str, str]:
    return type("Registry", (), {"kept": Thing()}), "ATTRIBUTE", "kept"


def in_closure() -> tuple[object, str, str]:
    kept = Thing()
    return (lambda: kept), "CELL", "kept"


def in_default() -> tuple[object, str, str]:
    def function(first: int, kept: object = Thing()) -> None: ...

    return function, "DEFAULT", "kept"


def in_keyword_default() -> tuple[object, str, str]:
    def function(*, kept: object = Thing()) -> None: ...

    return function, "DEFAULT", "kept"


def in_generator() -> tuple[object, str, str]:
    def wait(kept: object) -> Iterator[None]:
        yield
        yield

    generator = wait(Thing())
    next(generator)
    return generator, "LOCAL", "kept"


def in_tensor_hook() -> tuple[object, str, str]:
    kept = Thing()
    tensor = torch.zeros(2, requires_grad=True)
    tensor.register_hook(lambda gradient: gradient if kept else None)
    return tensor, "HOOK", "hook"


HELD = [
    in_dict, in_ordered_dict, in_list, in_deque, in_set, in_keys, in_attribute, in_slot, in_class, in_closure,
    in_default, in_keyword_default, in_generator, in_tensor_hook,
]  # fmt: skip


def things_of(source: object) -> list[Thing]:
    """All things that the source alone holds."""
    return [item for item in gc.get_objects() if type(item) is Thing]


@pytest.mark.parametrize("make", HELD, ids=lambda make: make.__name__)
def test_what_only_this_reference_holds_is_freed_without_a_collection(
    make: Callable[[], tuple[object, str, str]],
) -> None:
    gc.collect()
    gc.disable()
    try:
        source, kind, label = make()
        (thing,) = things_of(source)
        seen, asked = weakref.ref(thing), reference(source, kind, label, thing)
        del thing
        drop(asked, source)
        assert seen() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "container",
    [[1, 2], {"a": 1}, collections.OrderedDict(a=1), {1, 2}, collections.deque([1, 2])],
    ids=lambda container: type(container).__name__,
)
def test_all_elements_of_a_container_go_at_once(container: Any) -> None:
    drop(reference(container, "INDEX", "0", whole=True), container)
    assert len(container) == 0


def test_a_cached_function_forgets_its_results() -> None:
    @functools.lru_cache
    def cached(number: int) -> int:
        return number

    cached(1)
    drop(reference(cached, "CACHED", "cache"), cached)
    assert cached.cache_info().currsize == 0


def test_a_local_variable_of_a_running_function_is_unbound() -> None:
    def function() -> bool:
        kept = Thing()
        seen = weakref.ref(kept)
        frame = sys._getframe()
        drop(reference(frame, "LOCAL", "kept"), frame)
        return seen() is None and kept is None

    assert function()


def test_a_tensor_gives_up_its_graph_its_gradient_or_neither() -> None:
    weight = torch.ones(3, requires_grad=True)
    loss = (weight * 2).sum()
    drop(reference(loss, "GRAD_FN", "grad_fn"), loss)
    assert loss.grad_fn is None
    weight.grad = torch.ones(3)
    drop(reference(weight, "GRAD", "grad"), weight)
    assert weight.grad is None


def test_an_item_of_several_with_one_value_is_chosen_by_its_key() -> None:
    thing = Thing()
    table = {"first": thing, "second": thing}
    drop(reference(table, "ITEM", "second", thing), table)
    assert list(table) == ["first"]


def test_a_name_that_was_bound_anew_since_is_the_same_reference() -> None:
    before, table = Thing(), {"mean": Thing(), 3: Thing()}
    drop(reference(table, "ITEM", "mean", before), table)
    assert list(table) == [3]
    with pytest.raises(CannotDropError):
        drop(reference(table, "ITEM", "3", before), table)


def test_a_reference_that_python_cannot_take_back_is_refused_in_words() -> None:
    pair = (1, Thing())
    with pytest.raises(CannotDropError, match=r"^index 1: "):
        drop(reference(pair, "INDEX", "1", pair[1]), pair)
    method = Thing().__init__
    with pytest.raises(CannotDropError, match=r"^self __self__: such a reference cannot be dropped from outside$"):
        drop(reference(method, "SELF", "__self__"), method)


def test_a_reference_that_is_gone_is_refused_in_words() -> None:
    with pytest.raises(CannotDropError, match=r"^item gone is not there any more$"):
        drop(reference({}, "ITEM", "gone", Thing()), {})


def test_objects_are_found_by_address_running_frames_too() -> None:
    thing, frame = Thing(), sys._getframe()
    assert find_objects({id(thing), id(frame), 1}) == {id(thing): thing, id(frame): frame}


@pytest.mark.parametrize(
    ("item", "text", "expected"),
    [
        ({}, "dict", True),
        (Slotted(1), "capture.copies.test_drops.Slotted", True),
        (Slotted(1), "capture.copies.test_drops.Thing", False),
        (torch.ones(1, requires_grad=True).exp().grad_fn, "ExpBackward0", True),
    ],
)
def test_an_object_that_was_given_the_address_since_has_another_type(item: object, text: str, expected: bool) -> None:
    assert is_of_type(item, text) is expected


def test_a_reference_is_said_by_kind_and_label_and_in_one_word_where_both_are_the_same() -> None:
    said = [describe(Drop(1, "Tensor", kind, label, 2)) for kind, label in (("STORAGE", "storage"), ("LOCAL", "loss"))]
    assert said == ["the storage", "local loss"]
