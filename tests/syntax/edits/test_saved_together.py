from __future__ import annotations

from edit_texts import line_of, new_lines, source_of
from tenure.syntax.edits.saved_together import save_together

FUNCTION = """
class Scan(Function):
    @staticmethod
    def forward(ctx, x, decay):
        y = x * decay
        {kept}
        return y

    @staticmethod
    def backward(ctx, grad):
        {read}
"""


def ways(kept: str, read: str) -> list[str]:
    source = source_of(FUNCTION.format(kept=kept, read=read))
    return new_lines(source, save_together(source, line_of(source)))


def test_a_record_is_made_again_of_what_was_saved() -> None:
    assert ways("ctx.pair = Pair(decay, y)  # here", "return grad * ctx.pair.decay, ctx.pair.y") == [
        "ctx.save_for_backward(decay, y)  # here\npair = Pair(*ctx.saved_tensors)\nreturn grad * pair.decay, pair.y"
    ]


def test_variables_are_saved_alone_or_all_together() -> None:
    assert ways("ctx.y = y  # here\n        ctx.decay = decay", "return grad * ctx.decay, ctx.y") == [
        "ctx.save_for_backward(y)  # here\n(y,) = ctx.saved_tensors\nreturn grad * ctx.decay, y",
        "ctx.save_for_backward(y, decay)\ny, decay = ctx.saved_tensors\nreturn grad * decay, y",
    ]


def test_a_dictionary_is_made_again_of_what_was_saved() -> None:
    kept = 'ctx.parts = {"y": y, "rate": decay}  # here'
    assert ways(kept, 'return grad * ctx.parts["rate"], ctx.parts["y"]') == [
        "ctx.save_for_backward(y, decay)  # here\nparts = dict(zip(('y', 'rate'), ctx.saved_tensors))\n"
        'return grad * parts["rate"], parts["y"]'
    ]


def test_a_dictionary_may_have_braces_in_its_keys() -> None:
    assert ways('ctx.parts = {"{y}": y}  # here', 'return ctx.parts["{y}"]') == [
        "ctx.save_for_backward(y)  # here\nparts = dict(zip(('{y}',), ctx.saved_tensors))\nreturn parts[\"{y}\"]"
    ]


def test_several_variables_are_saved_with_what_is_saved_already() -> None:
    kept = "ctx.save_for_backward(x)\n        ctx.parts = (y, decay)  # here"
    assert ways(kept, "(x,) = ctx.saved_tensors\n        return grad * ctx.parts[1], ctx.parts[0] + x") == [
        "ctx.save_for_backward(x, y, decay)  # here\n(x, *parts) = ctx.saved_tensors\nparts = tuple(parts)\n"
        "return grad * parts[1], parts[0] + x"
    ]


def test_what_is_saved_already_stays() -> None:
    assert ways("ctx.y = y  # here\n        ctx.save_for_backward(x)", "return ctx.y, ctx.saved_tensors[0]") == []
