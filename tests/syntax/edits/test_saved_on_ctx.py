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


BESIDE = """\
class Gate(Function):
    @staticmethod
    def forward(ctx, pack, heat):
        melted = torch.minimum(pack, heat)
        ctx.save_for_backward(pack, heat)
        ctx.melted = melted  # kept
        return melted

    @staticmethod
    def backward(ctx, grad):
        pack, heat = ctx.saved_tensors
        return grad * (ctx.melted > 0), None
"""


def test_what_is_saved_already_is_saved_with_it() -> None:
    assert change(BESIDE, "melted") == (
        BESIDE.replace("        ctx.save_for_backward(pack, heat)\n", "")
        .replace("ctx.melted = melted", "ctx.save_for_backward(pack, heat, melted)")
        .replace("pack, heat = ctx", "pack, heat, melted = ctx")
        .replace("ctx.melted > 0", "melted > 0")
    )


def test_the_later_statement_saves_and_names_are_not_taken_twice() -> None:
    text = BESIDE.replace("        ctx.save_for_backward(pack, heat)\n", "").replace(
        "# kept\n", "# kept\n        ctx.save_for_backward(pack)\n"
    )
    text = text.replace("pack, heat =", "(melted,) =")
    assert change(text, "melted") == (
        text.replace("        ctx.melted = melted  # kept\n", "")
        .replace("ctx.save_for_backward(pack)", "ctx.save_for_backward(pack, melted)")
        .replace("(melted,) =", "(melted, saved_melted) =")
        .replace("ctx.melted > 0", "saved_melted > 0")
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(pack, heat)\n        ctx.melted", "(pack, heat)\n        heat = heat + 1\n        ctx.melted"),
        ("(pack, heat)\n        ctx.melted", "(*pairs)\n        ctx.melted"),
        ("ctx.melted = melted", "ctx.melted = melted.clone()"),
        ("pack, heat = ctx.saved_tensors", "pack, heat = ctx.saved_tensors[0], ctx.saved_tensors[1]"),
        ("pack, heat = ctx.saved_tensors", "mask = ctx.melted > 0\n        pack, heat = ctx.saved_tensors"),
    ],
)
def test_what_is_saved_otherwise_stays(old: str, new: str) -> None:
    text = BESIDE.replace(old, new)
    assert text != BESIDE
    assert change(text, "melted") == text
