"""The largest batch, or the longest input, that a device holds: from three sizes that ran, checked by one more."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.allocator.settings import parse_settings
from tenure.model.plan import LargestSize, Plan
from tenure.model.stream import StepStream
from tenure.planning.size_model import Axis, check_model, largest_within, model_of


def find_largest_size(
    streams: Sequence[tuple[int, StepStream]], plan: Plan, *, device_bytes: int, option: str, wanted: str
) -> LargestSize:
    """From four streams with their sizes of `option`, of which the last one checks.

    The least of the answer is where what is reserved still fits, with the larger constants; above the most not even
    what is in use does, with the smaller ones. UsageError where the steps differ otherwise than in their storages'
    bytes, where the fourth is not what the others predict, or where no size is found to matter: no `wanted`.
    """
    *known, (checked, last) = streams
    axis = Axis(option, tuple(size for size, _ in known))
    model = model_of([axis], [stream for _, stream in known], parse_settings(plan.settings), wanted=wanted)
    predicted, found = check_model(model, (checked,), last, wanted=wanted)
    return LargestSize(
        option=option,
        least=largest_within(model.reserved_at, device_bytes - beside(plan)[1], checked),
        most=largest_within(model.active_at, device_bytes - beside(plan)[0], checked),
        sizes=axis.sizes,
        checked=checked,
        predicted_bytes=predicted,
        found_bytes=found,
    )


def beside(plan: Plan) -> tuple[int, int]:
    """The least and the most bytes of the constants that are known."""
    return sum(each.least_bytes or 0 for each in plan.constants), sum(each.most_bytes or 0 for each in plan.constants)
