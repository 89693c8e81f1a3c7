# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

from heaps import census, growing
from tenure.analysis.heap.unseen_owners import describe_unseen_device_bytes, describe_unseen_owners
from tenure.model.recording import Step

MIB = 2**20


def allocated(*megabytes: int) -> list[Step]:
    """Steps 1, 2, ... with the device allocator's counter after each."""
    return [
        Step(step=step, time=float(step), seconds=1.0, counters={"allocated_bytes": count * MIB})
        for step, count in enumerate(megabytes, start=1)
    ]


def test_what_an_owner_outside_of_the_census_holds_alone_is_told_with_its_bytes() -> None:
    drawn = """
        unseen -> method#m name=Trainer.save -> <self> __main__.Trainer#t -> .weights tensor 6MiB
        unseen -> dict#d -> ['shared'] tensor#both 9MiB
        unseen -> list#l -> [0] tensor#both
        unseen -> list#l -> [1] tensor 2MiB
        main.net -> __main__.Net -> .weight tensor 8MiB
    """

    assert describe_unseen_owners(growing(drawn, (1, 2))) == (
        "6.00 MiB are held by a callback that only C code keeps (an exit handler or a pack hook, probably): Trainer.save, "
        "and by nothing else",
        "2.00 MiB are held by an owner Tenure cannot see (evaluation stack, C code, atexit), of list, and by nothing else",
    )


def test_what_a_root_holds_too_or_a_loop_or_block_keeps_or_is_little_or_is_new_is_not_told() -> None:
    held_too = "unseen -> list#l -> [0] tensor 6MiB\nmain.kept -> list#l"
    little = "unseen -> list#l -> [0] tensor 6KiB"
    looped_over = "unseen -> torch.utils.data._SingleProcessDataLoaderIter#i -> ._data tensor 6MiB"
    entered = "unseen -> method#m name=Session.__exit__ -> <self> data.Session#s -> .net tensor 6MiB"
    new = [census("main.kept -> list"), census("unseen -> list#l -> [0] tensor 6MiB", step=2)]

    cases = [growing(drawn, (1, 2)) for drawn in (held_too, little, looped_over, entered)]
    assert [describe_unseen_owners(found) for found in (*cases, new)] == [(), (), (), (), ()]


def test_device_bytes_that_no_tensor_covers_are_told_and_where_they_grew() -> None:
    seen = growing("main.net -> tensor 100MiB cuda", (1, 2))

    assert describe_unseen_device_bytes(allocated(110, 140), seen) == (
        "40.00 MiB of the 140.00 MiB allocated on cuda:0 belong to no tensor that a census shows: only C++ holds them "
        "(gradient buckets, caches, CUDA graphs, workspaces); at step 1 they were 10.00 MiB, at step 2 these",
    )


def test_device_bytes_that_stay_are_told_without_growth() -> None:
    seen = growing("main.net -> tensor 100MiB cuda", (1, 2))

    (text,) = describe_unseen_device_bytes(allocated(180, 180), seen)

    assert text.endswith("workspaces)")


def test_no_more_than_the_workspaces_that_stay_is_not_told() -> None:
    seen = growing("main.net -> tensor 100MiB cuda", (1, 2))

    assert describe_unseen_device_bytes(allocated(165, 165), seen) == ()


def test_device_bytes_that_tensors_cover_or_nobody_counted_are_not_told() -> None:
    seen = growing("main.net -> tensor 100MiB cuda", (1, 2))
    on_cpu = growing("main.net -> tensor 100MiB", (1, 2))

    found = [
        describe_unseen_device_bytes(*case)
        for case in ((allocated(100, 101), seen), ([], seen), (allocated(140, 140), on_cpu))
    ]
    assert found == [(), (), ()]
