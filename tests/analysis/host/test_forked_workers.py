from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from heaps import census, node_named
from tenure.analysis.host.forked_workers import describe_workers, find_forked_workers
from tenure.model.heap import Census, ChildMemory, HostBuffers, ReferenceKind
from tenure.model.suspect import Suspect

MIB = 1 << 20
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24)
ITERATOR = "torch.utils.data.dataloader._MultiProcessingDataLoaderIter"
HEAP = f"""
    main.model -> Model#model -> .weight tensor 64KiB parameter
    train(train.py:9).loader -> DataLoader#loader -> .dataset Ratings#ratings -> .samples list#samples length=60000
    unseen -> {ITERATOR}#iterator -> ._dataset Ratings#ratings
"""
Readings = Callable[[int], tuple[int, int]]
"""At a step: MiB shared, MiB private."""


def watched(*workers: Readings, heap: str = HEAP, steps: Sequence[int] = STEPS) -> list[Census]:
    return [
        dataclasses.replace(
            with_table(census(heap, step=step)),
            children=tuple(child(100 + number, *worker(step)) for number, worker in enumerate(workers)),
        )
        for step in steps
    ]


def child(pid: int, shared: int, private: int) -> ChildMemory:
    return ChildMemory(pid, (shared + private) * MIB, shared * MIB, private * MIB)


def with_table(made: Census) -> Census:
    strings = (*made.strings, "*", "dict")
    one = np.ones(1, dtype=np.int64)
    return dataclasses.replace(
        made,
        strings=strings,
        host=HostBuffers(
            owner=one * node_named(made, "samples"),
            bytes=one * 480_056,
            kind=one * int(ReferenceKind.INDEX),
            label=one * (len(strings) - 2),
            type=one * (len(strings) - 1),
        ),
    )


def copying(step: int) -> tuple[int, int]:
    return 200 - step, 10 + step


def facts(found: Sequence[Suspect]) -> list[tuple[str, int, object, object]]:
    return [
        (f.holder.expression, f.retained_bytes // MIB, f.facts["workers_read"], f.growth_bytes_per_step) for f in found
    ]


def test_shared_memory_that_becomes_private_is_told_with_the_container_of_the_data_set() -> None:
    (found,) = find_forked_workers(watched(copying, copying))

    assert facts([found]) == [("loader.dataset.samples", 46, 2, 2.0 * MIB)]
    assert (found.symptom, found.device, found.holder.name, found.cut) == ("host", "host", "samples", ())
    assert (found.facts["elements"], found.facts["element_type"]) == (60000, "dict")
    assert found.series.bytes == tuple(2 * (step - 1) * MIB for step in STEPS)
    assert list(describe_workers(watched(copying, copying), [found])) == []


def test_a_jump_is_not_counted() -> None:
    def with_jump(step: int) -> tuple[int, int]:
        return copying(step) if step < 16 else (100 - step, 110 + step)

    (found,) = find_forked_workers(watched(with_jump))

    assert facts([found]) == [("loader.dataset.samples", 19, 1, 19 * MIB / 23)]


def test_arrays_a_collection_and_memory_of_its_own_are_no_copies() -> None:
    def collected(step: int) -> tuple[int, int]:
        return (200, 10) if step < 6 else (140, 70) if step < 16 else (100, 110)

    assert find_forked_workers(watched(lambda step: (200, 10))) == ()
    assert find_forked_workers(watched(collected)) == ()
    assert find_forked_workers(watched(lambda step: (200, 10 + step))) == ()


def test_without_a_large_container_nobody_is_named_and_the_copies_are_said() -> None:
    small = watched(copying, heap=HEAP.replace("length=60000", "length=900"))

    assert find_forked_workers(small) == ()
    assert list(describe_workers(small, [])) == [
        "a worker process has made 23.00 MiB of shared memory its own from step 1 to 24 (the kernel's count), and no "
        "large list or dict of its data set is seen here: objects that are read are copied page by page after a fork"
    ]


def test_a_container_too_small_for_so_many_copied_bytes_is_not_blamed() -> None:
    assert find_forked_workers(watched(copying, heap=HEAP.replace("length=60000", "length=1500"))) == ()


def test_a_worker_that_grows_by_itself_is_said() -> None:
    grown = watched(lambda step: (200, 10 + 2 * step))

    assert list(describe_workers(grown, [])) == [
        "memory of a worker process's own grew by 46.00 MiB from step 1 to 24 (the kernel's count): what its data set "
        "keeps or caches there (a list, `lru_cache` on `__getitem__`) is not in this process's recording; run with "
        "`num_workers=0` to see it"
    ]
    assert list(describe_workers(watched(lambda step: (200, 10 + 5 * min(step, 8))), [])) == []


def test_recordings_without_children_say_nothing() -> None:
    assert find_forked_workers(watched()) == ()
    assert list(describe_workers(watched(), [])) == []
