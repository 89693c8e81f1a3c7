"""Scalars in event files, as TensorBoard's writers leave them, read without TensorBoard.

A file is a row of records: 8 bytes of length, 4 of its checksum, that many bytes, 4 of theirs; all little-endian. Each
record is a protobuf message `Event`. Checksums are not looked at; what is cut off at the end is left out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_VERSION = b"brain.Event:"
_EVENT_STEP, _EVENT_VERSION, _EVENT_SUMMARY = 2, 3, 5
_VALUE = 1
_TAG, _SIMPLE_VALUE, _TENSOR = 1, 2, 8
_DTYPE, _CONTENT, _FLOATS, _DOUBLES = 1, 4, 5, 6
_FORMATS = {1: "<f", 2: "<d", 3: "<i", 9: "<q"}
"""Of tensors: the numbers of float, double, int32 and int64."""


@dataclass(frozen=True)
class Scalar:
    """One logged value."""

    tag: str
    step: int
    value: float

    def __str__(self) -> str:
        return f"{self.tag} at step {self.step}: {self.value!r}"


def is_event_file(data: bytes) -> bool:
    """Whether the first record names the version of such a file."""
    record = next(_records(data), b"")
    return any(number == _EVENT_VERSION and _is_version(value) for number, value in _fields(record))


def find_scalars(data: bytes) -> list[Scalar]:
    """All scalars in the order in which they were written; other values, as of images, are left out."""
    found: list[Scalar] = []
    for record in _records(data):
        fields = list(_fields(record))
        step = next((value for number, value in fields if number == _EVENT_STEP and isinstance(value, int)), 0)
        for number, summary in fields:
            if number == _EVENT_SUMMARY and isinstance(summary, bytes):
                found += _scalars_of(summary, step - (1 << 64) * (step >= 1 << 63))
    return found


def _is_version(value: int | bytes) -> bool:
    return isinstance(value, bytes) and value.startswith(_VERSION)


def _scalars_of(summary: bytes, step: int) -> Iterator[Scalar]:
    for number, value in _fields(summary):
        if number != _VALUE or not isinstance(value, bytes):
            continue
        named = dict(_fields(value))
        tag, simple, tensor = named.get(_TAG, b""), named.get(_SIMPLE_VALUE), named.get(_TENSOR)
        told = _number(simple, "<f") if isinstance(simple, bytes) else None
        if told is None and isinstance(tensor, bytes):
            told = _scalar_of_tensor(tensor)
        if told is not None and isinstance(tag, bytes):
            yield Scalar(tag.decode("utf-8", "replace"), step, told)


def _scalar_of_tensor(tensor: bytes) -> float | None:
    """The number of a tensor that has one alone."""
    fields = dict(_fields(tensor))
    dtype = fields.get(_DTYPE, 0)
    for number in (_CONTENT, _FLOATS, _DOUBLES):
        content = fields.get(number)
        if isinstance(content, bytes) and isinstance(dtype, int) and dtype in _FORMATS:
            return _number(content, _FORMATS[dtype])
    return None


def _number(content: bytes, form: str) -> float | None:
    if len(content) != struct.calcsize(form):
        return None
    value: float = struct.unpack(form, content)[0]
    return value


def _records(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        if at + 12 + length > len(data):
            return
        yield data[at + 12 : at + 12 + length]
        at += 16 + length


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Numbers and values of a protobuf message, fixed ones as their bytes; ends at what is none."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if kind not in (1, 2, 5):
            return
        length = 8 if kind == 1 else 4
        if kind == 2:
            length, at = _varint(message, at)
        if at + length > len(message):
            return
        yield key >> 3, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            break
    return value, at
