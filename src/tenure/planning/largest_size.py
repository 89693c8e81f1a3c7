"""The largest batch, or the longest input, that a device holds: from three sizes that ran, checked by others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tenure.allocator.settings import parse_settings
from tenure.errors import UsageError
from tenure.model.plan import FAR, MOST, TOLERANCE, LargestSize, Plan
from tenure.model.stream import StepStream
from tenure.planning.size_check import check_model, refuse_noise
from tenure.planning.size_model import Axis, SizeModel, model_of, simplest
from tenure.planning.size_search import largest_within

_LEAST_STEP = 2
"""A run with less than so many times the largest size says little more."""


@dataclass(frozen=True)
class OneMore:
    """How a size nearer to a far answer is run: `most` for the time that it takes, `host_bytes` for its memory; None:
    without a limit."""

    watch: Callable[[int], StepStream]
    most: int | None = None
    host_bytes: int | None = None


def find_largest_size(
    streams: Sequence[tuple[int, StepStream]],
    plan: Plan,
    *,
    device_bytes: int,
    option: str,
    wanted: str,
    one_more: OneMore | None = None,
) -> LargestSize:
    """From four streams with their sizes of `option`, of which the last one checks, and `one_more` for a far answer.

    The least of the answer is where what is reserved still fits, with the larger constants; above the most not even
    what is in use does, with the smaller ones. UsageError where the steps differ otherwise than in their storages'
    bytes, where steps of one size do, where a run is not what smaller ones predict, or where no size is found to
    matter: no `wanted`.
    """
    *known, (checked, last) = streams
    axis, settings = Axis(option, tuple(size for size, _ in known)), parse_settings(plan.settings)
    refuse_noise([(size,) for size, _ in streams], [stream for _, stream in streams], settings, wanted=wanted)
    model = simplest(model_of([axis], [stream for _, stream in known], settings, wanted=wanted), (checked,), last)
    predicted, found = check_model(model, (checked,), last, wanted=wanted)
    result = LargestSize(
        option=option,
        least=largest_within(model.reserved_at, device_bytes - beside(plan)[1], checked),
        most=largest_within(model.active_at, device_bytes - beside(plan)[0], checked),
        sizes=axis.sizes,
        checked=checked,
        predicted_bytes=predicted,
        found_bytes=found,
    )
    if result.least > FAR * checked and one_more is not None:
        result = _confirmed(result, model, one_more, wanted=wanted)
    is_far = result.most > FAR * (result.confirmed or checked)
    bounds = widened(result.least, result.most) if is_far else (result.least, result.most)
    return replace(result, least=bounds[0], most=bounds[1], is_widened=is_far)


def _confirmed(result: LargestSize, model: SizeModel, one_more: OneMore, *, wanted: str) -> LargestSize:
    """The answer after one more run, as near to it as time and memory allow."""
    size = min(result.least, one_more.most or result.least)
    if one_more.host_bytes is not None:
        size = min(size, largest_within(model.active_at, one_more.host_bytes, result.checked))
    if size < _LEAST_STEP * result.checked:
        return replace(result, why_not="this machine has no time or memory for a larger one")
    try:
        stream = one_more.watch(size)
    except UsageError as error:
        return replace(result, why_not=str(error))
    predicted, found = check_model(model, (size,), stream, wanted=wanted)
    return replace(result, confirmed=size, predicted_bytes=predicted, found_bytes=found)


def widened(least: int, most: int) -> tuple[int, int]:
    """Bounds that are taken wider for what a check would not have seen."""
    return int(least * (1 - TOLERANCE)), min(int(most * (1 + TOLERANCE)), MOST)


def beside(plan: Plan) -> tuple[int, int]:
    """The least and the most bytes of the constants that are known."""
    return sum(each.least_bytes or 0 for each in plan.constants), sum(each.most_bytes or 0 for each in plan.constants)
