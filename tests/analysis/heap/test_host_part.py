from __future__ import annotations

import dataclasses

import numpy as np

from heaps import census, node_named
from tenure.analysis.heap.host_part import host_part, tensor_part
from tenure.analysis.suspects import find_suspects
from tenure.model.heap import Census, HostBuffers, NodeKind, ReferenceKind
from tenure.model.suspect import Suspect

KIB = 1024
HEAP = """
    main.model -> Model#model -> .weight tensor 64KiB parameter
    main.model -> Model#model -> .frames list#frames length=9 -> [0] tensor 1KiB
    main.recorder -> Recorder#recorder -> .pictures list#pictures length=9
"""


def with_buffers(made: Census, *rows: tuple[str, int]) -> Census:
    """`made`, in which the nodes of these names hold so many bytes of text each."""
    strings = (*made.strings, "*", "str")
    count = len(rows)
    return dataclasses.replace(
        made,
        strings=strings,
        host=HostBuffers(
            owner=np.array([node_named(made, name) for name, _ in rows], dtype=np.int64),
            bytes=np.array([size for _, size in rows], dtype=np.int64),
            kind=np.full(count, int(ReferenceKind.INDEX)),
            label=np.full(count, len(strings) - 2),
            type=np.full(count, len(strings) - 1),
        ),
    )


def names_of(made: Census) -> list[str]:
    return sorted(made.text(int(position)) for position in made.nodes.type)


def test_without_host_buffers_the_census_is_its_tensor_part() -> None:
    made = census(HEAP)

    assert tensor_part(made) is made


def test_the_tensor_part_has_no_trace_of_what_leads_to_host_memory_alone() -> None:
    found = tensor_part(with_buffers(census(HEAP), ("frames", 32 * KIB), ("pictures", 64 * KIB)))

    assert "Recorder" not in names_of(found)
    assert found.storages.bytes.tolist() == [64 * KIB, KIB]
    assert len(found.host.owner) == 0


def test_the_host_part_has_buffers_for_storages_and_no_tensors() -> None:
    found = host_part(with_buffers(census(HEAP), ("frames", 32 * KIB), ("pictures", 64 * KIB)))

    assert found.storages.bytes.tolist() == [32 * KIB, 64 * KIB]
    assert [found.text(int(device)) for device in found.storages.device] == ["host", "host"]
    assert NodeKind.TENSOR not in found.nodes.kind.tolist()
    assert found.references.target.max() < len(found.nodes.kind) == len(found.nodes.address)


def test_a_buffer_has_the_same_address_in_the_next_census() -> None:
    first, second = (
        host_part(with_buffers(census(text), ("pictures", 64 * KIB)))
        for text in (HEAP, f"main.other -> Other -> .x tensor 1KiB\n{HEAP}")
    )

    assert set(first.nodes.address[-2:].tolist()) == set(second.nodes.address[-2:].tolist())


def history(size_at: dict[int, int], words: str = "") -> list[Census]:
    """Censuses in which one list of the recorder holds so many bytes at each step."""
    heap = HEAP.replace("length=9", f"length=9 {words}")
    return [
        with_buffers(census(heap, step=step), ("pictures", size), ("frames", 32 * KIB))
        for step, size in size_at.items()
    ]


def grown(size_at: dict[int, int], words: str = "") -> list[Suspect]:
    return [suspect for suspect in find_suspects(history(size_at, words)) if suspect.device == "host"]


STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24)


def test_a_list_that_swells_is_a_suspect_that_names_the_list() -> None:
    (found,) = grown({step: step * 40 * KIB for step in STEPS})

    assert found.holder.expression == "recorder.pictures[*]"
    assert (found.holder.name, found.holder.element, found.holder.container_type) == ("pictures", True, "list")
    assert found.growth_bytes_per_step == 40 * KIB
    assert (found.retained_bytes, found.facts["host_type"]) == (24 * 40 * KIB, "str")


def test_what_fills_and_stops_is_none() -> None:
    assert grown({step: min(step, 6) * 40 * KIB for step in STEPS}) == []


def test_what_stays_as_it_is_is_none() -> None:
    assert grown(dict.fromkeys(STEPS, 10**9)) == []


def test_a_few_bytes_per_step_are_none() -> None:
    assert grown({step: 20 * KIB + step * 200 for step in STEPS}) == []


def test_a_window_that_fills_to_its_bound_is_none() -> None:
    assert grown({step: step * 40 * KIB for step in STEPS}, "bound=100") == []
