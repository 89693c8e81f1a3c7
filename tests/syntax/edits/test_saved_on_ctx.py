from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import apply_edits
from tenure.syntax.edits.saved_on_ctx import save_for_backward

WHOLE = """\
class Softplus(Function):
    @staticmethod
    def forward(ctx, x):
        y = softplus(x)
        ctx.y = y  # kept
        return y

    @staticmethod
    def backward(ctx, grad):
        y = ctx.y
        return grad * (1 - torch.exp(-y))
"""

PART = """\
class Gather(Function):
    @staticmethod
    def forward(ctx, graph, x):
        out = gather(graph, x)
        ctx.cache = graph, out, x.dtype  # kept
        return out

    @staticmethod
    def backward(context, grad):
        graph, out, dtype = context.cache
        return None, gather(graph, grad * out).to(dtype)
"""


def change(text: str, attribute: str = "y", part: int | None = None) -> str:
    line = next((number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# kept")), 1)
    return apply_edits(text, save_for_backward(SourceFile("t.py", text), attribute, line, part))


def test_a_tensor_goes_through_save_for_backward() -> None:
    assert change(WHOLE) == WHOLE.replace("ctx.y = y", "ctx.save_for_backward(y)").replace(
        "y = ctx.y\n", "y = ctx.saved_tensors[0]\n"
    )


def test_wherever_backward_reads_it() -> None:
    text = (
        WHOLE.replace("        y = ctx.y\n", "").replace("-y", "-ctx.y").replace("ctx.y = y", "ctx.y = x.exp().sum()")
    )
    assert change(text) == text.replace("ctx.y = x.exp().sum()", "ctx.save_for_backward(x.exp().sum())").replace(
        "-ctx.y", "-ctx.saved_tensors[0]"
    )


def test_it_may_be_set_in_setup_context() -> None:
    text = WHOLE.replace("def forward(ctx, x)", "def setup_context(ctx, inputs, y)").replace(
        "        y = softplus(x)\n", ""
    )
    assert "ctx.save_for_backward(y)" in change(text)


def test_of_a_tuple_only_the_tensor_goes() -> None:
    assert change(PART, "cache", 1) == PART.replace(
        "        ctx.cache = graph, out,", "        ctx.save_for_backward(out)\n        ctx.cache = graph, None,"
    ).replace("= context.cache\n", "= context.cache\n        (out,) = context.saved_tensors\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return y\n", "ctx.save_for_backward(x)\n        return y\n"),
        ("return y\n", "y.mul_(2)\n        return y\n"),
        ("return y\n", "y[0] = 1\n        return y\n"),
        ("return y\n", "return y + ctx.y\n"),
        ("softplus(x)", "softplus(x, inplace=True)"),
        ("return y\n", "ctx.y = x\n        return y\n"),
        ("ctx.y = y  # kept", "if x.requires_grad:\n            ctx.y = y  # kept"),
        ("ctx.y = y  # kept", "ctx.y, ctx.x = y, x  # kept"),
        ("ctx.y = y  # kept", "ctx.y = (y if x else None)  # kept"),
        ("ctx.y = y  # kept", "ctx.y = f(  # kept\n            y\n        )"),
        ("y = ctx.y\n", "y = getattr(ctx, name)\n        ctx.y = None\n"),
        ("y = ctx.y\n", "y = ctx.y + ctx.y\n"),
        ("class Softplus", "def peek(node):\n    return node.y\n\n\nclass Softplus"),
        ("def backward", "def vjp"),
        ("return grad * (1 - torch.exp(-y))", "return (lambda ctx: ctx.saved_tensors)(ctx)"),
        ("class", "def f(:\nclass"),
    ],
)
def test_where_it_is_not_sure_to_be_right_nothing_is_offered(old: str, new: str) -> None:
    text = WHOLE.replace(old, new)
    assert text != WHOLE
    assert change(text) == text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("graph, out, dtype = context.cache", "cache = context.cache"),
        ("graph, out, dtype = context.cache", "graph, *out = context.cache"),
        ("graph, out, dtype = context.cache", "graph, out = context.cache"),
        ("graph, out, x.dtype", "graph, out.view(-1), x.dtype"),
        ("graph, out, x.dtype", "make(graph, out)"),
    ],
)
def test_a_tuple_that_is_not_taken_apart_in_plain_sight_stays(old: str, new: str) -> None:
    text = PART.replace(old, new)
    assert text != PART
    assert change(text, "cache", 1) == text
