from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.values.trained_through import goes_backward, keeps_graphs


def files(*texts: str) -> list[SourceFile]:
    return [SourceFile(f"{number}.py", text) for number, text in enumerate(texts)]


@pytest.mark.parametrize(
    "text",
    [
        "loss.backward(retain_graph=True)",
        "loss.backward(create_graph=True)",
        "loss.backward(retain_graph=step > 0)",
        "(slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)",
        "grad(y, x, retain_graph=True)\nloss.backward()",
    ],
)
def test_a_graph_that_is_retained_may_be_gone_through_again(text: str) -> None:
    assert keeps_graphs(files("x = 1", text))


@pytest.mark.parametrize(
    "text",
    [
        "loss.backward()",
        "loss.backward(retain_graph=False)",
        "(slope,) = grad(y.sum(), x, create_graph=True)\n(y - slope).square().mean().backward()",
    ],
)
def test_a_plain_backward_leaves_no_graph(text: str) -> None:
    assert not keeps_graphs(files("x = 1", text))


@pytest.mark.parametrize(
    "texts",
    [
        ("kept.append(x)\ntorch.stack(kept).sum().backward()",),
        ("kept.append(x)\nloss = sum(kept) / len(kept)\nloss.backward()",),
        ("kept = kept + x\ntotal = other\ntotal += 2 * kept\ntorch.autograd.grad(total, y)",),
        ("self.kept.append(x)\nfor each in self.kept:\n    each.backward()",),
        ("self.kept.append(x)\nlosses = [x * y for x in self.kept]\nsum(losses).backward()",),
        ("def total(self):\n    return sum(self.kept)", "loss = agent.total()\nloss.backward()"),
        ("@property\ndef total(self):\n    return sum(self.kept)", "agent.total.backward()"),
        ("self.kept.append(x)", "torch.stack(log.kept).mean().backward()"),
        ("def f():\n    kept = g()\n    step(kept)", "def step(optimizer, loss):\n    loss.backward()"),
        ("def f():\n    kept = g()\n    def closure():\n        kept.backward()",),
        ("kept = None\ndef f():\n    global kept\n    kept = g()\ndef h():\n    kept.backward()",),
    ],
)
def test_what_is_computed_from_a_name_is_followed_to_a_derivative(texts: tuple[str, ...]) -> None:
    assert goes_backward(files(*texts), ".kept" if ".kept" in texts[0] else "kept", "0.py")


@pytest.mark.parametrize(
    "texts",
    [
        ("kept += loss\nloss.backward()",),
        ("kept += loss\nprint(kept.item())\nloss.backward()",),
        ("kept.append(x)\nloss = f(x, kept[-1].detach())\nloss.backward()",),
        ("kept.append(x)\nguess = kept[-1].argmax(1)\nloss = f(x, guess)\nloss.backward()",),
        ("self.kept.append(x)\nkept = f(x)\nkept.backward()",),
        ("self.kept += x\nloss = x.kept()\nloss.backward()",),
        ("def train():\n    kept += loss\n    loss.backward()\n    return kept\n\ndef main():\n    loss = train()",),
        ("def f(x):\n    kept = x\ndef g(loss):\n    loss.backward()\ndef h(loss):\n    f(loss)",),
        ("self.kept = x", "class Other:\n    def loss(self):\n        return self.kept\n\nOther().loss().backward()"),
    ],
)
def test_what_no_derivative_is_taken_of_is_not(texts: tuple[str, ...]) -> None:
    assert not goes_backward(files(*texts), ".kept" if ".kept" in texts[0] else "kept", "0.py")


def test_a_file_that_cannot_be_parsed_is_passed_over() -> None:
    assert goes_backward(files("def f(:", "kept.sum().backward()"), "kept", "1.py")
