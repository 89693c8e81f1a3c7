from __future__ import annotations

from profiles import profile
from streams import stream
from tenure.model.stream import StepStream
from tenure.planning.ranks import NO_COLLECTIVES, NO_GROUP, OTHER_STREAMS, unknown_of_ranks


def of(*operations: str) -> StepStream:
    return stream(profile((0, 1, -1, 3, -1), operations=len(operations), second=1), operations=operations)


def test_what_is_not_known_of_one_rank_alone_is_told() -> None:
    gathers = of("aten.mm.default", "fsdp.all_gather_copy_in.default", "c10d._allgather_base_.default")
    reduces, alone = of("aten.mm.default", "c10d.allreduce_.default"), of("aten.mm.default", "aten.mm.default")

    assert unknown_of_ranks(gathers, 8) == [NO_COLLECTIVES, OTHER_STREAMS]
    assert unknown_of_ranks(reduces, 8) == [NO_COLLECTIVES]
    assert unknown_of_ranks(alone, 8) == [NO_GROUP]


def test_of_a_program_that_ran_as_it_is_only_streams_are_unknown() -> None:
    assert unknown_of_ranks(of("aten.mm.default", "fsdp.chunk_cat.default"), None) == [OTHER_STREAMS]
    assert unknown_of_ranks(of("aten.mm.default", "c10d.allreduce_.default"), None) == []
