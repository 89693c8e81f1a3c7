from __future__ import annotations

from typing import Any

import pytest
import torch

from tenure.capture.steps import returned_graphs
from tenure.capture.steps.returned_graphs import ReturnedGraphs, has_graph


def called() -> tuple[torch.Tensor, torch.Tensor]:
    """An input and what a model makes of it."""
    given = torch.ones(3, requires_grad=True)
    return given, (given * 2).tanh()


@pytest.mark.parametrize("wrapped", [lambda out: out, lambda out: {"logits": [out]}, lambda out: (None, out)])
def test_a_backward_pass_through_what_was_given_back_is_seen_once(wrapped: Any) -> None:
    graphs = ReturnedGraphs()
    _, output = called()

    assert graphs.watch(wrapped(output))
    output.sum().backward()
    assert graphs.end()
    assert not graphs.end()


def test_gradients_that_are_asked_for_are_a_backward_pass_too() -> None:
    graphs = ReturnedGraphs()
    given, output = called()

    assert graphs.watch(output)
    torch.autograd.grad(output.sum(), given)
    assert graphs.end()


def test_without_one_and_once_the_watch_is_over_nothing_is_seen() -> None:
    graphs = ReturnedGraphs()
    _, output = called()

    assert graphs.watch(output)
    assert not graphs.end()
    output.sum().backward()
    assert not graphs.end()


@pytest.mark.parametrize(
    "make",
    [lambda: called()[1].detach(), lambda: {"label": "a"}, lambda: None, lambda: torch.ones(2, requires_grad=True)],
)
def test_what_has_no_graph_is_not_watched(make: Any) -> None:
    assert not ReturnedGraphs().watch(make())


def test_a_tensor_of_a_class_of_its_own_sees_nothing_of_the_watch() -> None:
    asked: list[str] = []

    class Seeing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(getattr(function, "__name__", ""))
            return super().__torch_function__(function, types, args, kwargs or {})

    output = called()[1].as_subclass(Seeing)
    asked.clear()

    assert ReturnedGraphs().watch([output])
    assert asked == []


def test_after_many_calls_a_graph_is_told_without_a_python_object_for_any_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that has one goes by a recursion, which a chain of tens of thousands ends the process with."""
    monkeypatch.setattr(returned_graphs, "_READ", iter(()))
    given, output = called()
    assert [has_graph(each) for each in (output, {"logits": [output]}, given, output.detach(), 3)] == [
        True, True, False, False, False,
    ]  # fmt: skip

    class Unread(torch.Tensor):
        @property
        def grad_fn(self) -> Any:
            raise AssertionError("the node was read")

    assert has_graph(output.as_subclass(Unread))


def test_of_parts_whose_common_base_was_changed_since_nothing_is_watched() -> None:
    whole = called()[1] * 1
    parts = whole.unbind(0)
    with torch.no_grad():
        whole.mul_(2)

    assert not has_graph(parts)
    assert not ReturnedGraphs().watch(parts)
