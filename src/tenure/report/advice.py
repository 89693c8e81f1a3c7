"""What other allocator settings would have come to, as text and as JSON; analyses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tenure.allocator.advisor import Advice, Candidate
from tenure.allocator.replay import Replay
from tenure.model.live_block import OwnedBlock
from tenure.model.units import format_bytes
from tenure.report.outlook import render_rows
from tenure.report.owners import holder_rows, holders_as_dicts
from tenure.report.replay import replay_text

_UNCONFIRMED = "by torch's rules; no recorded trace has confirmed them for such settings"


def render_advice(
    advice: Advice,
    replay: Replay,
    owners: Sequence[OwnedBlock] = (),
    where: str = "",
    *,
    width: int,
    ascii_only: bool = False,
) -> str:
    """What to set, or that nothing is to be gained, as lines of at most `width`; of a recording also `where` its copy
    was made, and whose what is in use was."""
    copy = [("copy", where)] if where else []
    rows = (*copy, *_advice_rows(advice, replay), *holder_rows(owners))
    return render_rows(rows, width=width, ascii_only=ascii_only)


def advice_as_dict(advice: Advice, replay: Replay, owners: Sequence[OwnedBlock] = ()) -> dict[str, Any]:
    """The same as `tenure advise --json` gives it for one device."""
    return {
        "device": replay.device,
        "floor_bytes": advice.floor_bytes,
        "recorded": _candidate_as_dict(advice.recorded),
        "holders": holders_as_dicts(owners),
        "candidates": list(map(_candidate_as_dict, advice.candidates)),
        "advice": environment_line(advice.best.settings) if advice.best is not None and replay.is_equal else None,
    }


def environment_line(settings: str) -> str:
    """What to put before the command; torch up to 2.8 reads the older name."""
    return f"PYTORCH_ALLOC_CONF={settings}"


def _advice_rows(advice: Advice, replay: Replay) -> Iterator[tuple[str, str]]:
    floor, recorded, best = advice.floor_bytes, advice.recorded, advice.best
    settings = recorded.settings or "the defaults"
    yield (
        f"device {replay.device}",
        f"{format_bytes(recorded.peak_reserved_bytes)} reserved at the peak, with {settings}",
    )
    yield "floor", f"{format_bytes(floor)} were in use at once: no setting reserves less"
    if not replay.is_equal:
        yield "advice", f"none: the replay of what was recorded {replay_text(replay)}"
        return
    if best is None:
        over = recorded.peak_reserved_bytes - floor
        yield "advice", f"nothing to gain: {format_bytes(over)} lie above the floor, and no setting tried saves enough"
        return
    saved = recorded.peak_reserved_bytes - best.peak_reserved_bytes
    yield "advice", environment_line(best.settings)
    yield "", f"(PYTORCH_CUDA_ALLOC_CONF={best.settings} up to torch 2.8)"
    yield (
        "predicted",
        (
            f"{format_bytes(best.peak_reserved_bytes)} reserved at the peak, {format_bytes(saved)} less, with "
            f"{best.num_device_allocations:,} device allocations instead of {recorded.num_device_allocations:,}"
        ),
    )
    if best.is_confirmed:
        yield (
            "how sure",
            "the recorded settings came out exactly as recorded, as did published traces under those advised",
        )
    else:
        yield "how sure", f"the recorded settings came out exactly as recorded; those advised are played {_UNCONFIRMED}"


def _candidate_as_dict(candidate: Candidate) -> dict[str, Any]:
    return {
        "settings": candidate.settings,
        "peak_reserved_bytes": candidate.peak_reserved_bytes,
        "device_allocations": candidate.num_device_allocations,
        "note": "" if candidate.is_confirmed else f"played {_UNCONFIRMED}",
    }
