from __future__ import annotations

import struct

from tenure.fixing.event_files import Scalar, find_scalars, is_event_file


def field(number: int, value: int | float | bytes, *, double: bool = False) -> bytes:
    """One field of a protobuf message."""
    if isinstance(value, float):
        return varint(number << 3 | (1 if double else 5)) + struct.pack("<d" if double else "<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value % (1 << 64))
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    return varint_of(value) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def varint_of(value: int) -> bytes:
    return bytes([value])


def record(message: bytes) -> bytes:
    return struct.pack("<Q", len(message)) + b"sum1" + message + b"sum2"


def event(step: int, *values: bytes) -> bytes:
    """An event with its time, its step, and a summary of values."""
    return record(field(1, 1.7e9, double=True) + field(2, step) + field(5, b"".join(field(1, each) for each in values)))


VERSION = record(field(1, 1.7e9, double=True) + field(3, b"brain.Event:2"))
SIMPLE = field(1, b"loss") + field(2, 0.5)
OF_TENSOR = field(1, b"accuracy") + field(8, field(1, 1) + field(5, struct.pack("<f", 0.25)))
OF_CONTENT = field(1, b"rate") + field(8, field(1, 2) + field(2, b"") + field(4, struct.pack("<d", 1e-3)))
IMAGE = field(1, b"picture") + field(4, field(1, 8) + field(4, b"png"))


def test_scalars_are_read_from_all_forms_in_which_writers_leave_them() -> None:
    data = VERSION + event(1, SIMPLE) + event(300, OF_TENSOR, IMAGE, OF_CONTENT) + event(-1, SIMPLE)

    assert is_event_file(data)
    assert find_scalars(data) == [
        Scalar("loss", 1, 0.5),
        Scalar("accuracy", 300, 0.25),
        Scalar("rate", 300, 1e-3),
        Scalar("loss", -1, 0.5),
    ]
    assert str(find_scalars(data)[0]) == "loss at step 1: 0.5"


def test_what_is_cut_off_or_no_event_file_is_left_out() -> None:
    data = VERSION + event(1, SIMPLE) + event(2, SIMPLE)

    assert [find_scalars(data[:-cut]) for cut in (8, 40)] == [[Scalar("loss", 1, 0.5)]] * 2
    assert [is_event_file(each) for each in (b"", b"loss 0.5\n" * 9, bytes(range(256)) * 4, VERSION[:20])] == [
        False
    ] * 4
    for start in range(0, len(data), 7):
        find_scalars(data[start:])
