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


def test_what_is_saved_already_stays() -> None:
    assert ways("ctx.y = y  # here\n        ctx.save_for_backward(x)", "return ctx.y, ctx.saved_tensors[0]") == []
