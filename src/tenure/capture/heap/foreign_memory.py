"""Which objects may have device memory that torch does not own: told by their types alone."""

from __future__ import annotations

from tenure.capture.guarding.classes import bases_of, module_of, own_of

_COUNTED_ELSEWHERE = frozenset({"torch", "numpy", "pyarrow"})
"""Packages whose arrays are tensors, or lie in the host's memory."""


def is_foreign(cls: type) -> bool:
    """Whether objects of a type may hold device memory of their own; microseconds, asked once per type."""
    for base in bases_of(cls):
        own = own_of(base)
        if "__cuda_array_interface__" in own or "__dlpack__" in own:
            return not any(module_of(each).partition(".")[0] in _COUNTED_ELSEWHERE for each in bases_of(cls))
    return False


def describe_unread(names: dict[str, int]) -> str:
    """The note that says which objects were seen whose memory could not be measured."""
    told = ", ".join(f"{count} of {name}" for name, count in sorted(names.items()))
    return f"objects that may hold memory of a device which torch does not own, of a size not known here: {told}"
