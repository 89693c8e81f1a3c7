"""The cut in C and its twin in Python find and leave the same; both are asked each question."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tenure.release.steps import plain_cut
from tenure.release.steps.plain_cut import PlainCut, cut_in_python

CUTS = [cut_in_python, *([] if plain_cut._plaincut is None else [plain_cut._plaincut.cut_plain])]
Cut = Callable[[dict[str, Any], int], PlainCut]
both = pytest.mark.parametrize("cut", CUTS, ids=["python", "native"][: len(CUTS)])
pytestmark = both


def made(*shape: int) -> torch.Tensor:
    return torch.ones(shape, requires_grad=True) * 2


def told(found: PlainCut) -> tuple[list[tuple[str, str, int, bool]], list[str], list[str]]:
    """Names, kinds, bytes and whether another tensor took the place; names bound anew; names to search."""
    notes, anew, nested, _, _ = found
    return [(name, kind, size, other is not None) for name, kind, _, size, other in notes], list(anew), nested


def test_a_tensor_that_only_its_name_has_is_cut_where_it_stands(cut: Cut) -> None:
    values = {"logits": made(4, 2), "batch": torch.ones(3), "weight": torch.ones(3, requires_grad=True)}

    assert told(cut(values, 1)) == ([("logits", "Tensor", 32, False)], [], [])
    assert [each.requires_grad for each in values.values()] == [False, False, True]


def test_a_tensor_that_somebody_else_has_is_replaced(cut: Cut) -> None:
    kept = made(4)
    values = {"logits": kept}

    found = cut(values, 1)

    assert told(found) == ([("logits", "Tensor", 16, True)], ["logits"], [])
    assert (kept.requires_grad, found[1]["logits"].requires_grad) == (True, False)
    assert found[1]["logits"].data_ptr() == kept.data_ptr()


def test_a_dict_and_a_list_of_one_name_are_written_to(cut: Cut) -> None:
    shared = made(8)
    values: dict[str, Any] = {
        "retval": {"loss": made(), "logits": shared, "stats": {"count": 8}, "names": ["a"]},
        "losses": [1.0, made(2)],
    }

    found = cut(values, 1)

    expected = [("retval", "dict", 4, False), ("retval", "dict", 32, True), ("losses", "list", 8, False)]
    assert told(found) == (expected, [], [])
    assert not values["retval"]["logits"].requires_grad
    assert not values["losses"][1].requires_grad
    assert shared.requires_grad


def test_a_tensor_behind_two_names_is_one(cut: Cut) -> None:
    loss = made()
    values: dict[str, Any] = {"retval": {"loss": loss}, "loss": loss}
    del loss

    found = cut(values, 1)

    assert told(found) == ([("retval", "dict", 4, False), ("loss", "Tensor", 4, False)], [], [])
    assert values["loss"] is values["retval"]["loss"]


def test_a_tensor_behind_two_names_and_another_is_replaced_by_one(cut: Cut) -> None:
    loss = made()
    values: dict[str, Any] = {"retval": {"loss": loss}, "loss": loss}

    found = cut(values, 1)

    assert told(found) == ([("retval", "dict", 4, True), ("loss", "Tensor", 4, True)], ["loss"], [])
    assert found[1]["loss"] is values["retval"]["loss"]
    assert not found[1]["loss"].requires_grad


def test_a_container_that_somebody_else_has_is_left_to_the_search(cut: Cut) -> None:
    history = [made()]
    values: dict[str, Any] = {"history": history}

    assert told(cut(values, 1)) == ([], [], ["history"])
    assert history[0].requires_grad


@pytest.mark.parametrize(
    "make",
    [
        lambda: (made(),),
        lambda: collections.OrderedDict(loss=made()),
        lambda: {"inner": {"loss": made()}},
        lambda: [[made()]],
        lambda: {number: made() for number in range(1_001)},
        lambda: collections.deque([made()]),
    ],
)
def test_other_containers_are_left_to_the_search(cut: Cut, make: Callable[[], Any]) -> None:
    assert told(cut({"held": make()}, 1)) == ([], [], ["held"])


def test_what_was_replaced_is_told_where_there_is_something_to_search(cut: Cut) -> None:
    kept, alone = made(2), made(3)
    values: dict[str, Any] = {"kept": kept, "alone": alone, "pair": (kept, 1)}
    del alone

    _, anew, nested, replaced, originals = cut(values, 1)

    assert nested == ["pair"]
    assert replaced == {id(kept): anew["kept"], id(values["alone"]): values["alone"]}
    assert [each is kept for each in originals] == [True]


def test_any_number_of_tensors_is_cut(cut: Cut) -> None:
    values: dict[str, Any] = {"losses": [made() for _ in range(200)], "loss": made()}

    notes, anew, nested, _, _ = cut(values, 1)

    assert [note[4] for note in notes] == [None] * 201
    assert (anew, nested) == ({}, [])
    assert not any(each.requires_grad for each in values["losses"])


def test_a_number_in_a_larger_memory_is_copied_out_of_it(cut: Cut) -> None:
    values: dict[str, Any] = {"loss": made(1_000)}
    torch.no_grad()(values["loss"].set_)(values["loss"].untyped_storage(), 0, (), ())

    found = cut(values, 1)

    assert told(found) == ([("loss", "Tensor", 4, True)], ["loss"], [])
    assert found[1]["loss"].untyped_storage().nbytes() == 4


def test_a_view_is_replaced_for_it_cannot_be_cut_in_place(cut: Cut) -> None:
    values: dict[str, Any] = {"row": made(4, 8)[0]}

    found = cut(values, 1)

    assert told(found) == ([("row", "Tensor", 32, True)], ["row"], [])
    assert not found[1]["row"].requires_grad


def test_a_sparse_tensor_is_cut(cut: Cut) -> None:
    values: dict[str, Any] = {"sparse": (torch.eye(3).to_sparse().requires_grad_() * 2)}

    notes, anew, _, _, _ = cut(values, 1)

    assert [note[3] for note in notes] == [60]  # three values of four bytes, six indices of eight
    assert not anew.get("sparse", values["sparse"]).requires_grad


def test_a_mode_that_changes_a_container_while_it_is_looked_at_ends_in_no_crash(cut: Cut) -> None:
    values: dict[str, Any] = {"retval": {str(number): made() for number in range(9)}}

    class Emptying(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            values["retval"].pop(next(reversed(values["retval"]), ""), None)
            return func(*args, **(kwargs or {}))

    with Emptying(), contextlib.suppress(KeyError, RuntimeError):
        cut(values, 1)

    assert len(values["retval"]) < 9
