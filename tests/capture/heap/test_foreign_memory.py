from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from capture.heap import foreign_arrays as arrays
from capture.reading import Reading
from tenure.capture.heap.census import take_census
from tenure.capture.heap.foreign_memory import is_foreign
from tenure.capture.heap.foreign_storages import Regions
from tenure.capture.heap.foreign_types import FOREIGN_TYPES, NOTHING, ForeignMemory, reader_of
from tenure.model.heap import Census, NodeKind

KIB = 1024
FAR = 0x7F00_0000_0000


def read_foreign(item: object) -> ForeignMemory | None:
    """As a census does."""
    read = reader_of(type(item))
    return None if read is None else read(item)


def test_cupys_arrays_tell_their_blocks_without_running_code_of_theirs() -> None:
    memory = arrays.cupy_memory(FAR, 4 * KIB, device=1)

    for cls in (arrays.CupyArray, arrays.SubclassOfCupyArray):
        found = read_foreign(arrays.cupy_array(memory, cls))
        assert found == ForeignMemory(FAR, 4 * KIB, "cuda:1", "float32", "[2, 3]")


@pytest.mark.parametrize("owned", [False, True])
def test_numbas_arrays_tell_what_they_were_given(owned: bool) -> None:
    found = read_foreign(arrays.numba_array(FAR, 8 * KIB, device=2, owned=owned))

    assert found == ForeignMemory(FAR, 8 * KIB, "cuda:2", "uint8", "[8192]")


CUDF = "cudf.core."
MEASURED: dict[str, tuple[Any, str, int, str, int | None]] = {
    "a PyCUDA array whose address is a number": (lambda: arrays.pycuda_array(FAR, KIB), "cuda", KIB, "uint8", KIB),
    "one of an allocation": (
        lambda: arrays.pycuda_array(arrays.pycuda_allocation(FAR), KIB), "cuda", KIB, "uint8", KIB),
    "a part of one": (
        lambda: arrays.pycuda_array(FAR + 8, 16, base=arrays.pycuda_array(FAR, KIB)), "cuda", KIB, "uint8", 16),
    "a Warp array": (lambda: arrays.warp_array(FAR, KIB, 1), "cuda:1", KIB, "", KIB),
    "a part of a Warp array": (
        lambda: arrays.warp_array(FAR + 8, 9, 1, arrays.warp_array(FAR, KIB, 1)), "cuda:1", KIB, "", 9),
    "a buffer of RMM": (lambda: arrays.rmm_buffer(FAR, KIB), "cuda", KIB, "", None),
    "an owner of cuDF's buffers": (
        lambda: arrays.standing_in(CUDF + "buffer.buffer", "BufferOwner", _ptr=FAR, _size=KIB), "cuda", KIB, "", None),
    "a buffer of an older cuDF": (
        lambda: arrays.standing_in(CUDF + "buffer.buffer", "Buffer", _ptr=FAR, _size=KIB, _owner=1),
        "cuda", KIB, "", None),
}  # fmt: skip
WITHOUT = {
    "an empty PyCUDA array": lambda: arrays.pycuda_array(None, 0),
    "one of another library's memory": lambda: arrays.pycuda_array(FAR, KIB, base=object()),
    "a Warp array on the host": lambda: arrays.warp_array(FAR, KIB, -1),
    "an annotation of Warp's": lambda: arrays.warp_array(None, 0, None),
    "a Warp array of a tensor's memory": lambda: arrays.warp_array(FAR, KIB, 0, part_of=torch.ones(1)),
    "an indexed Warp array": lambda: arrays.standing_in("warp.types", "indexedarray", data=1),
    "a buffer of cuDF": lambda: arrays.standing_in(CUDF + "buffer.buffer", "Buffer", _owner=1, _offset=0, _size=KIB),
    "a spilled owner": lambda: arrays.standing_in(CUDF + "buffer.buffer", "BufferOwner", _ptr=0, _size=KIB),
    "a series": lambda: arrays.standing_in(CUDF + "series", "Series", _column=1),
    "a column": lambda: arrays.standing_in(CUDF + "column.column", "ColumnBase", _base_data=1),
    "a view of pylibcudf": lambda: arrays.standing_in("pylibcudf.gpumemoryview", "gpumemoryview", obj=1),
}
UNKNOWN = {
    "an array of JAX": lambda: arrays.standing_in("jaxlib._jax", "ArrayImpl", _npy_value=None),
    "a tensor of TensorFlow": lambda: arrays.standing_in("tensorflow.python.framework.ops", "EagerTensor", _id=1),
    "a PyCUDA array that a program has given its own pointer": lambda: arrays.pycuda_array(arrays.Offers(), KIB),
    "one whose pointer is a program's class under PyCUDA's name": lambda: arrays.pycuda_array(
        arrays.pycuda_allocation(FAR, compiled=False), KIB
    ),
    "a Warp array without a device": lambda: arrays.warp_array(FAR, KIB, None),
    "an owner that keeps it otherwise": lambda: arrays.standing_in(CUDF + "buffer.buffer", "BufferOwner", pointer=FAR),
    "an owner whose address is an object": lambda: arrays.standing_in(
        CUDF + "buffer.buffer", "BufferOwner", _ptr=arrays.Offers(), _size=KIB
    ),
    "a size that is none": lambda: arrays.pycuda_array(FAR, True),
}


@pytest.mark.parametrize("what", MEASURED)
def test_arrays_of_known_libraries_tell_their_memory_without_running_code(what: str) -> None:
    make, device, size, dtype, shape = MEASURED[what]
    item = make()
    told = ForeignMemory(FAR, size, device, dtype, "" if shape is None else f"[{shape}]")

    assert (is_foreign(type(item)), read_foreign(item)) == (True, told)


@pytest.mark.parametrize("what", WITHOUT)
def test_what_has_no_memory_of_its_own_is_known_to_have_none(what: str) -> None:
    item = WITHOUT[what]()

    assert (is_foreign(type(item)), read_foreign(item)) == (True, NOTHING)


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_only_code_of_theirs_could_say_stays_unknown(what: str) -> None:
    item = UNKNOWN[what]()

    assert (is_foreign(type(item)), read_foreign(item)) == (True, None)


def test_each_library_of_the_table_is_tested() -> None:
    tested = [type(make()) for make in (*(row[0] for row in MEASURED.values()), *WITHOUT.values())]
    tested += [arrays.CupyArray, arrays.NumbaArray]

    assert [
        row.name for row in FOREIGN_TYPES if not any(row.fits(base) for cls in tested for base in cls.__mro__)
    ] == []


def test_what_a_library_keeps_otherwise_is_not_guessed() -> None:
    without_memory = arrays.cupy_array(arrays.cupy_memory(FAR, 1))
    without_memory.data.mem = None
    empty = arrays.NumbaArray()

    assert [read_foreign(item) for item in (without_memory, empty, arrays.Offers())] == [None, None, None]


def test_only_types_that_offer_their_memory_are_foreign() -> None:
    class Named:
        pass

    Named.__module__, Named.__qualname__ = "cupy", "ndarray"

    told = {
        cls: is_foreign(cls)
        for cls in (
            arrays.CupyArray,
            arrays.NumbaArray,
            arrays.Offers,
            arrays.OffersDlpack,
            np.ndarray,
            dict,
            Named,
            torch.Tensor,
            torch.nn.Parameter,
        )
    }

    assert [cls for cls, foreign in told.items() if foreign] == [
        arrays.CupyArray,
        arrays.NumbaArray,
        arrays.Offers,
        arrays.OffersDlpack,
    ]


def test_memory_that_lies_in_other_memory_is_counted_once() -> None:
    regions = Regions()

    assert regions.put(100, 50, 1) == ([], 50)
    assert regions.put(100, 50, 2) == ([1], 0)
    assert regions.put(120, 10, 3) == ([1], 0)
    assert regions.put(90, 100, 4) == ([1], 50)  # 10 before, 40 behind
    assert regions.put(85, 70, 5) == ([4, 1], 5)
    assert regions.put(190, 10, 6) == ([], 10)
    assert regions.put(0, 300, 7) == ([5, 4, 1, 6], 300 - 115)


def foreign_storages(census: Census) -> list[tuple[str, int, str, str, int]]:
    """Device, bytes, dtype, shape and address of storages on devices that these tests alone know."""
    storages = census.storages
    texts = (census.text(int(device)) for device in storages.device)
    return [
        (device, int(storages.bytes[row]), census.text(int(storages.dtype[row])), census.text(int(storages.shape[row])),
         int(storages.pointer[row]))
        for row, device in enumerate(texts)
        if device.startswith("cuda")
    ]  # fmt: skip


@pytest.mark.slow
def test_a_census_counts_foreign_memory_with_its_owners() -> None:
    pool = arrays.cupy_memory(FAR, 4 * KIB)
    history = [arrays.cupy_array(pool), arrays.cupy_array(pool), arrays.numba_array(FAR + KIB * KIB, 8 * KIB, 1)]

    census = take_census(step=1, moment="request")

    assert sorted(foreign_storages(census)) == [
        ("cuda:0", 4 * KIB, "float32", "[2, 3]", FAR),
        ("cuda:1", 8 * KIB, "uint8", "[8192]", FAR + KIB * KIB),
    ]
    reading = Reading(census)
    node = reading.node_of(history)
    assert reading.bytes_below(node) == 12 * KIB
    assert sorted(lab for _, lab, _ in reading.out[node]) == ["0", "1", "2"]


@pytest.mark.slow
def test_memory_shared_with_torch_is_counted_once_and_has_both_owners() -> None:
    tensor = torch.zeros(4 * KIB, dtype=torch.uint8)
    pointer = tensor.data_ptr()
    shared = arrays.cupy_array(arrays.cupy_memory(pointer, 4 * KIB))
    larger = arrays.numba_array(pointer - KIB, 6 * KIB)

    census = take_census(step=1, moment="request")

    reading = Reading(census)
    assert foreign_storages(census) == [("cuda:0", 2 * KIB, "uint8", "[6144]", pointer - KIB)]
    (storage,) = reading.storages_below(reading.node_of(tensor))
    assert set(reading.storages_below(reading.node_of(shared))) == {storage}
    assert reading.bytes_below(reading.node_of(larger)) == 6 * KIB
    assert reading.kind(storage) is NodeKind.STORAGE


@pytest.mark.slow
def test_what_cannot_be_measured_is_said_by_type_and_runs_nothing() -> None:
    kept = [arrays.Offers(), arrays.Offers(), arrays.OffersDlpack()]

    census = take_census(step=1, moment="request")

    (note,) = [note for note in census.notes if "torch does not own" in note]
    name = f"{arrays.__name__}."
    assert note.endswith(f"of a size not known here: 2 of {name}Offers, 1 of {name}OffersDlpack")
    assert foreign_storages(census) == []
    assert len(kept) == 3


@pytest.mark.slow
def test_a_storage_tells_the_address_of_its_memory() -> None:
    tensor = torch.zeros(3 * KIB + 1, dtype=torch.uint8)[7:]

    census = take_census(step=1, moment="request")

    rows = [row for row, size in enumerate(census.storages.bytes.tolist()) if size == 3 * KIB + 1]
    assert int(census.storages.pointer[rows[0]]) == tensor.untyped_storage().data_ptr()


@pytest.mark.slow
def test_buffers_of_one_allocation_are_counted_once_and_what_they_make_up_is_not_said_to_be_unknown() -> None:
    allocated = arrays.rmm_buffer(FAR, 4 * KIB)
    owner = arrays.standing_in(CUDF + "buffer.buffer", "BufferOwner", _ptr=FAR, _size=4 * KIB, _owner=allocated)
    buffer = arrays.standing_in(CUDF + "buffer.buffer", "Buffer", _owner=owner, _offset=0, _size=KIB)
    kept = [arrays.standing_in(CUDF + "series", "Series", _column=buffer)]

    census = take_census(step=1, moment="request")

    assert foreign_storages(census) == [("cuda", 4 * KIB, "", "", FAR)]
    assert not [note for note in census.notes if "cudf" in note or "rmm" in note]
    reading = Reading(census)
    assert reading.bytes_below(reading.node_of(kept)) == 4 * KIB
