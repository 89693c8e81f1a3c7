"""The largest batch for each length of the input, and how many tokens a batch of any length may have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tenure.allocator.settings import parse_settings
from tenure.model.plan import FAR, LargestAtLength, Plan, TokenBudget
from tenure.model.stream import StepStream
from tenure.planning.largest_size import beside, widened
from tenure.planning.size_check import check_model, refuse_noise
from tenure.planning.size_model import Axis, SizeModel, model_of, simplest, sizes_of
from tenure.planning.size_search import largest_within

WANTED = "token budget"
MOST_DOUBLINGS = 6
"""Lengths beyond those that ran, each twice the one before."""


def find_token_budget(
    batches: Axis,
    lengths: Axis,
    streams: Sequence[StepStream],
    checked: tuple[int, int],
    last: StepStream,
    plan: Plan,
    *,
    device_bytes: int,
) -> TokenBudget:
    """From the streams of all batches with all lengths (`sizes_of`), and `last` of the sizes `checked`.

    Told are the lengths that ran, the checked one, and doublings of it until nothing fits. Bounds are as in
    `find_largest_size`, and so are the reasons for a UsageError.
    """
    axes, settings = [batches, lengths], parse_settings(plan.settings)
    refuse_noise([*sizes_of(axes), checked], [*streams, last], settings, wanted=WANTED)
    model = simplest(model_of(axes, streams, settings, wanted=WANTED), checked, last)
    predicted, found = check_model(model, checked, last, wanted=WANTED)
    return TokenBudget(
        batch_option=batches.option,
        length_option=lengths.option,
        batches=batches.sizes,
        lengths=lengths.sizes,
        checked=checked,
        predicted_bytes=predicted,
        found_bytes=found,
        rows=_rows(model, checked, device_bytes, beside(plan)),
    )


def _rows(
    model: SizeModel, checked: tuple[int, int], device_bytes: int, beside: tuple[int, int]
) -> tuple[LargestAtLength, ...]:
    batch, longest = checked
    found: list[LargestAtLength] = []
    for length in (*model.axes[1].sizes, longest, *(longest << number for number in range(1, MOST_DOUBLINGS + 1))):
        least = largest_within(partial(_reserved, model, length), device_bytes - beside[1], batch)
        most = largest_within(partial(_active, model, length), device_bytes - beside[0], batch)
        is_far = most > FAR * checked[0] or (most > 0 and length > FAR * longest)
        least, most = widened(least, most) if is_far else (least, most)
        tokens = min([least * length, *(row.tokens for row in found[-1:])])
        found.append(LargestAtLength(length, least, most, tokens, is_far))
        if not most:
            break
        batch = max(most, 1)
    return tuple(found)


def _reserved(model: SizeModel, length: int, batch: int) -> int:
    return model.reserved_at(batch, length)


def _active(model: SizeModel, length: int, batch: int) -> int:
    return model.active_at(batch, length)
