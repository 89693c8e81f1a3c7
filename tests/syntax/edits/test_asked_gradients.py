"""`torch.autograd.grad` for a backward pass whose gradients carry a graph."""

from __future__ import annotations

import textwrap

import pytest

from edit_texts import line_of, source_of
from tenure.syntax.edits.asked_gradients import ask_for_gradients, ask_for_those_that_are_read
from tenure.syntax.edits.line_edits import apply_edits


def asked(text: str) -> list[str]:
    source = source_of("import torch\n" + textwrap.dedent(text))
    found = (apply_edits(source.text, edits) for edits in ask_for_gradients(source, line_of(source)))
    return [each.removeprefix("import torch\n") for each in found]


def test_gradients_are_asked_for_and_stored_without_their_graph_where_that_is_wanted() -> None:
    text = """
    def gradients(net, loss):
        loss.backward(create_graph=True)  # here
        return [p.grad for p in net.parameters()]
    """

    assert asked(text) == [
        """
def gradients(net, loss):
    gradients = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)  # here
    return [gradient for p, gradient in zip(net.parameters(), gradients)]
""",
        """
def gradients(net, loss):
    gradients = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
    for p, gradient in zip(net.parameters(), gradients):
        p.grad = gradient.detach().clone()  # here
    return [gradient for p, gradient in zip(net.parameters(), gradients)]
""",
    ]


def test_loops_and_pairs_with_names_are_read_as_well() -> None:
    text = """
    def probe(net, loss, total):
        if total:
            (loss / 2).backward(create_graph=True)  # here
            for n, p in net.named_parameters():
                total[n] = p.grad.norm() + p.grad.sum()
    """

    assert (
        asked(text)[0]
        == """
def probe(net, loss, total):
    if total:
        gradients = torch.autograd.grad(loss / 2, [p for n, p in net.named_parameters()], create_graph=True)  # here
        for (n, p), gradient in zip(net.named_parameters(), gradients):
            total[n] = gradient.norm() + gradient.sum()
"""
    )


@pytest.mark.parametrize(
    "text",
    [
        "def f(net, loss):\n    loss.backward()  # here\n    return [p.grad for p in net.parameters()]\n",
        "def f(net, loss):\n    loss.backward(create_graph=True)  # here\n    return net.weight.grad\n",
        "def f(net, loss):\n    loss.backward(create_graph=True)  # here\n"
        "    return [p.grad for p in net.parameters() if p.grad is not None]\n",
        "def f(net, loss):\n    loss.backward(create_graph=True)  # here\n"
        "    norms = [p.grad for p in net.parameters()]\n    return norms, net.weight.grad\n",
        "def f(net, loss):\n    loss.backward(create_graph=True, inputs=[net.weight])  # here\n"
        "    return [p.grad for p in net.parameters()]\n",
        "def f(net, loss):\n    loss.backward(create_graph=True)  # here\n"
        "    for p in net.parameters():\n        p.grad = None\n",
    ],
)
def test_gradients_that_are_read_otherwise_are_left_to_the_pass(text: str) -> None:
    assert asked(text) == []


REASONS = """
import torch

class Reasons:
    def __call__(self, payments):
        rows = payments.clone().requires_grad_()
        self.champion(rows).sum().backward()
        blame = (rows.grad * payments).mean(0)
        {more}
"""


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ("return blame", "rows.grad, = torch.autograd.grad(self.champion(rows).sum(), [rows])"),
        (
            "return blame + other.grad",
            "rows.grad, other.grad = torch.autograd.grad(self.champion(rows).sum(), [rows, other])",
        ),
    ],
)
def test_a_backward_pass_for_the_gradients_of_variables_asks_for_these_alone(more: str, asked: str) -> None:
    source = source_of(REASONS.format(more=more))
    ((edit,),) = ask_for_those_that_are_read(source)

    assert (edit.after or "").strip() == asked


@pytest.mark.parametrize("more", ["self.optimizer.step()", "return self.model.weight.grad", "rows.grad = None"])
def test_a_pass_that_trains_or_whose_gradients_are_read_elsewhere_stays(more: str) -> None:
    assert list(ask_for_those_that_are_read(source_of(REASONS.format(more=more)))) == []


def test_a_file_that_cannot_be_parsed_is_passed_over() -> None:
    assert list(ask_for_those_that_are_read(source_of("import torch\n("))) == []
