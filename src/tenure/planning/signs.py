"""What in a stream shows that an option was in force: no figure is told of one that did nothing."""

from __future__ import annotations

from collections.abc import Callable

from tenure.model.profile import ALIVE, BEFORE, Phase
from tenure.model.stream import Owner, StepStream
from tenure.model.trial import DATA_PARALLEL, DISTRIBUTED, EIGHT_BIT, SHARDED_OVER, kind_of
from tenure.model.units import format_bytes

Sign = Callable[[StepStream, StepStream], "str | None"]
"""Of a program as it is and under an option: what shows the option, in words."""
_LEAST_BYTES = 8192
"""Numbers and random states that graphs keep on the host anyway are no larger."""
_HALF = ("bfloat16", "float16")


def sign_of(option: str, before: StepStream, after: StepStream) -> str | None:
    """What `after`, recorded with the option, shows of it in words; None where it shows nothing that `before` does
    not."""
    return _SIGNS[kind_of(option)](before, after)


def already(option: str, stream: StepStream) -> str | None:
    """Why a program that ran so has no use for the option: it does the same by itself; None where it does not."""
    if option == "no-foreach" and not _num_in_optimizer(stream, "aten._foreach"):
        return "the optimizer steps tensor by tensor already, or fused"
    if option == "fused" and _num_in_optimizer(stream, "aten._fused"):
        return "the optimizer is fused already"
    if option in ("autocast-bf16", "autocast-fp16") and _num_half(stream, *_HALF):
        return "the program computes in bfloat16 or float16 already"
    if option == "set-to-none" and not _kept_gradients(stream):
        return "no gradient is kept between steps already"
    if option == "save-on-cpu" and _bytes_on_host(stream):
        return "saved tensors go to the host already"
    return None


def _more(num: Callable[[StepStream], int], said: str) -> Sign:
    """Of what `num` counts."""

    def sign(before: StepStream, after: StepStream) -> str | None:
        more = num(after) - num(before)
        return f"{more:,} {said}" if more > 0 else None

    return sign


def _num_recomputed(stream: StepStream) -> int:
    """Operations within a module's call while a backward pass runs."""
    return int(((stream.profile.operations.phase == Phase.BACKWARD) & (stream.modules >= 0)).sum())


def _num_half(stream: StepStream, *dtypes: str) -> int:
    storages, profile = stream.profile.storages, stream.profile
    return sum(
        birth != BEFORE and profile.text(dtype) in dtypes
        for birth, dtype in zip(storages.birth.tolist(), storages.dtype.tolist(), strict=True)
    )


def _num_named(stream: StepStream, part: str) -> int:
    profile = stream.profile
    return sum(part in profile.text(name) for name in profile.operations.name.tolist())


def _num_in_place(stream: StepStream) -> int:
    profile = stream.profile
    names = profile.operations.name[profile.operations.phase == Phase.FORWARD]
    return sum(profile.text(name).removesuffix(".default").endswith("_") for name in names.tolist())


def _halved(before: StepStream, after: StepStream) -> str | None:
    were, are = (int(stream.flops.sum()) for stream in (before, after))
    said = "the first device computes half of the batch, gathers all outputs and sums gradients in buffers of 10 MiB"
    return f"{said} (as torch's source has it)" if are < were else None


def _on_host(before: StepStream, after: StepStream) -> str | None:
    more = _bytes_on_host(after) - _bytes_on_host(before)
    return f"{format_bytes(more)} of saved tensors were on the host as backward began" if more > 0 else None


def _bytes_on_host(stream: StepStream) -> int:
    if not stream.graph_reads:
        return 0
    sizes = stream.profile.storages.bytes
    is_there = stream.is_kept_at(stream.graph_reads[-1]) & (stream.owners.on_device == 0) & (sizes > _LEAST_BYTES)
    return int(sizes[is_there].sum())


def _single(before: StepStream, after: StepStream) -> str | None:
    were, are = (_num_in_optimizer(stream, "aten._foreach") for stream in (before, after))
    return f"{were:,} foreach operations of the optimizer's steps became {are:,}" if are < were else None


def _num_in_optimizer(stream: StepStream, beginning: str) -> int:
    profile = stream.profile
    names = profile.operations.name[profile.operations.phase == Phase.OPTIMIZER]
    return sum(profile.text(name).startswith(beginning) for name in names.tolist())


def _accumulated(before: StepStream, after: StepStream) -> str | None:
    passes, more = len(before.graph_reads), len(after.graph_reads)
    kept = _kept_gradients(after)
    if more <= passes or not kept:
        return None
    return f"{more} backward passes in place of {passes}, with {format_bytes(kept)} of gradients kept between them"


def _smaller_state(before: StepStream, after: StepStream) -> str | None:
    were, are = map(_bytes_of_state, (before, after))
    return f"{format_bytes(were)} of optimizer state became {format_bytes(are)}" if are < were else None


def _bytes_of_state(stream: StepStream) -> int:
    storages = stream.profile.storages
    return int(storages.bytes[(stream.owners.owner == Owner.OPTIMIZER_STATE) & (storages.birth == BEFORE)].sum())


def _dropped(before: StepStream, after: StepStream) -> str | None:
    were, are = map(_kept_gradients, (before, after))
    return f"{format_bytes(were)} of gradients alive in forward became {format_bytes(are)}" if are < were else None


def _kept_gradients(stream: StepStream) -> int:
    """Bytes of gradients alive where the last backward pass begins."""
    if not stream.graph_reads:
        return 0
    at, storages = stream.graph_reads[-1], stream.profile.storages
    is_gradient = (stream.owners.owner == Owner.GRADIENT) & (storages.birth < at)
    return int(storages.bytes[is_gradient & ((storages.death == ALIVE) | (storages.death > at))].sum())


_SIGNS: dict[str, Sign] = {
    "checkpointing": _more(_num_recomputed, "operations of modules ran again in backward"),
    "autocast-bf16": _more(lambda stream: _num_half(stream, "bfloat16"), "storages were made in bfloat16"),
    "autocast-fp16": _more(lambda stream: _num_half(stream, "float16"), "storages were made in float16"),
    **dict.fromkeys(
        SHARDED_OVER,
        _more(lambda stream: _num_named(stream, "allgather"), "times parameters were gathered from shards"),
    ),
    DISTRIBUTED: _more(
        lambda stream: _num_named(stream, "allreduce"),
        "buckets of gradients were reduced; each rank has half of the batch",
    ),
    DATA_PARALLEL: _halved,
    "save-on-cpu": _on_host,
    EIGHT_BIT: _smaller_state,
    "accumulation": _accumulated,
    "in-place": _more(_num_in_place, "operations of forward wrote into their input"),
    "no-foreach": _single,
    "fused": _more(
        lambda stream: _num_in_optimizer(stream, "aten._fused"), "fused operations in the optimizer's steps"
    ),
    "set-to-none": _dropped,
}
