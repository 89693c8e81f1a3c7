"""What other allocator settings would have come to, as text and as JSON; analyses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tenure.allocator.advisor import Advice, Candidate
from tenure.allocator.replay import Replay
from tenure.model.live_block import OwnedBlock
from tenure.model.units import format_bytes
from tenure.report.outlook import render_rows
from tenure.report.owners import holder_rows, holders_as_dicts
from tenure.report.replay import replay_text

_FRACTION = "per_process_memory_fraction"
_SEGMENTS = "large_segment_size_mb"
_NEWER = (_FRACTION, _SEGMENTS)
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


@dataclass(frozen=True)
class AdvisedRank:
    """One rank of several: the fullest device of its snapshot."""

    rank: int
    reserved_bytes: int
    floor_bytes: int
    replay: Replay


def render_advice_of_ranks(
    advice: Advice, ranks: Sequence[AdvisedRank], moment: str, *, width: int, ascii_only: bool = False
) -> str:
    """The same for the ranks of a folder, which all get the same settings."""
    return render_rows(_ranks_rows(advice, ranks, moment), width=width, ascii_only=ascii_only)


def advice_of_ranks_as_dict(advice: Advice, ranks: Sequence[AdvisedRank], moment: str) -> dict[str, Any]:
    """The same for `--json`."""
    is_equal = all(each.replay.is_equal for each in ranks)
    return {
        "moment": moment,
        **_settings_as_dict(advice, is_equal=is_equal),
        "ranks": [
            {
                "rank": each.rank,
                "device": each.replay.device,
                "reserved_bytes": each.reserved_bytes,
                "floor_bytes": each.floor_bytes,
                "replay_equal": each.replay.is_equal,
            }
            for each in ranks
        ],
    }


def advice_as_dict(advice: Advice, replay: Replay, owners: Sequence[OwnedBlock] = ()) -> dict[str, Any]:
    """The same as `tenure advise --json` gives it for one device."""
    return {
        "device": replay.device,
        "recorded_reserved_bytes": replay.reserved.bytes,
        **_settings_as_dict(advice, is_equal=replay.is_equal),
        "holders": holders_as_dicts(owners),
    }


def _settings_as_dict(advice: Advice, *, is_equal: bool) -> dict[str, Any]:
    return {
        "floor_bytes": advice.floor_bytes,
        "recorded": _candidate_as_dict(advice.recorded),
        "candidates": list(map(_candidate_as_dict, advice.candidates)) if is_equal else [],
        "advice": environment_line(advice.best.settings) if advice.best is not None and is_equal else None,
    }


def environment_line(settings: str) -> str:
    """What to put before the command; torch up to 2.8 reads the older name."""
    return f"PYTORCH_ALLOC_CONF={settings}"


def _older(settings: str) -> str:
    """What is to be done up to torch 2.8: there the fraction is set by a call, and segments have one size."""
    parts = [part for part in settings.split(",") if not part.startswith(_NEWER)]
    line = f"PYTORCH_CUDA_ALLOC_CONF={','.join(parts)}" if parts else ""
    fraction = [part.partition(":")[2] for part in settings.split(",") if part.startswith(_FRACTION)]
    calls = [f"torch.cuda.set_per_process_memory_fraction({share})" for share in fraction]
    if f"{_SEGMENTS}:" in settings:
        return f"no {_SEGMENTS}"
    return " and ".join((*([line] if line else []), *calls))


def _advice_rows(advice: Advice, replay: Replay) -> Iterator[tuple[str, str]]:
    recorded = advice.recorded
    settings = recorded.settings or "the defaults"
    reserved = f"{format_bytes(replay.reserved.bytes)} reserved at the peak, with {settings}"
    yield f"device {replay.device}", reserved
    if not replay.is_equal:
        yield "advice", f"none: the replay of what was recorded {replay_text(replay)}"
        return
    yield from _played_rows(recorded, replay)
    yield from _settings_rows(advice)


def _played_rows(recorded: Candidate, replay: Replay) -> Iterator[tuple[str, str]]:
    """What all others are compared with, where it is not what was recorded."""
    if recorded.peak_reserved_bytes != replay.reserved.bytes or _trouble(recorded):
        again = "" if not replay.earlier.segments else ", what was there before the first event asked for anew"
        yield "played", f"{format_bytes(recorded.peak_reserved_bytes)}{again}{_trouble(recorded)}"


def _ranks_rows(advice: Advice, ranks: Sequence[AdvisedRank], moment: str) -> Iterator[tuple[str, str]]:
    least, most = (choose(ranks, key=lambda each: each.reserved_bytes) for choose in (min, max))
    settings = advice.recorded.settings or "the defaults"
    spread = f"from {format_bytes(least.reserved_bytes)} (rank {least.rank}) to {format_bytes(most.reserved_bytes)}"
    yield "ranks", f"{len(ranks):,} of {moment}: reserved at the peak {spread} (rank {most.rank}), with {settings}"
    left = [each for each in ranks if not each.replay.is_equal]
    if left:
        of = f"rank {left[0].rank}" + (f" and {len(left) - 1:,} more" if len(left) > 1 else "")
        yield "advice", f"none: the replay of what was recorded of {of} {replay_text(left[0].replay)}"
        return
    yield from _played_rows(advice.recorded, most.replay)
    yield from _settings_rows(advice)


def _floor_row(advice: Advice) -> tuple[str, str]:
    return "floor", f"{format_bytes(advice.floor_bytes)} were in use at once: no setting reserves less"


def _trouble(candidate: Candidate) -> str:
    """Where the device's memory is known: requests that it could not serve at once, or at all."""
    retries = f", {_requests(candidate.num_retries)} served only after all that was free went back"
    refused = f", {_requests(candidate.num_refused)} not served"
    return (retries if candidate.num_retries else "") + (refused if candidate.num_refused else "")


def _requests(num: int) -> str:
    return "1 request" if num == 1 else f"{num:,} requests"


def _settings_rows(advice: Advice) -> Iterator[tuple[str, str]]:
    """What to set, or that nothing is to be gained."""
    floor, recorded, best = advice.floor_bytes, advice.recorded, advice.best
    yield _floor_row(advice)
    if best is None:
        over = recorded.peak_reserved_bytes - floor
        yield "advice", f"nothing to gain: {format_bytes(over)} lie above the floor, and no setting tried saves enough"
        return
    saved = recorded.peak_reserved_bytes - best.peak_reserved_bytes
    yield "advice", environment_line(best.settings)
    yield "", f"({_older(best.settings)} up to torch 2.8)"
    allocations = f"{best.num_device_allocations:,} device allocations instead of {recorded.num_device_allocations:,}"
    change = f", {format_bytes(abs(saved))} {'less' if saved > 0 else 'more'}," if saved else " as before,"
    reserved = f"{format_bytes(best.peak_reserved_bytes)} reserved at the peak{change} with {allocations}"
    yield "predicted", f"{reserved}{_trouble(best)}"
    if best.is_confirmed:
        yield (
            "how sure",
            "the recorded settings came out exactly as recorded, as did recorded traces under those advised",
        )
    else:
        yield "how sure", f"the recorded settings came out exactly as recorded; those advised are played {_UNCONFIRMED}"


def _candidate_as_dict(candidate: Candidate) -> dict[str, Any]:
    return {
        "settings": candidate.settings,
        "peak_reserved_bytes": candidate.peak_reserved_bytes,
        "device_allocations": candidate.num_device_allocations,
        "retries": candidate.num_retries,
        "refused": candidate.num_refused,
        "note": "" if candidate.is_confirmed else f"played {_UNCONFIRMED}",
    }
