from alignment import _NoteAlignment
from train import main


class _SavedAlignment(_NoteAlignment):
    @staticmethod
    def forward(ctx, *args):
        value = _NoteAlignment.forward(ctx, *args)
        ctx.save_for_backward(ctx.__dict__.pop("slope"))
        return value

    @staticmethod
    def backward(ctx, upstream):
        (slope,) = ctx.saved_tensors
        return upstream * slope, None, None, None


def align(scores, notes, lengths, blank=0):
    return _SavedAlignment.apply(scores, notes, lengths, blank)


if __name__ == "__main__":
    main(align, keep=float)
