"""Bytes and durations as people read them: 1024-based sizes with their unit, times with theirs."""

_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def format_bytes(num_bytes: int | float) -> str:
    """`1.86 GiB`; whole bytes below one KiB; negative sizes keep their sign."""
    size = float(num_bytes)
    for unit in _SIZES:
        if abs(size) < 1024 or unit == _SIZES[-1]:
            return f"{size:.0f} B" if unit == "B" else f"{size:.2f} {unit}"
        size /= 1024
    raise AssertionError("unreachable: the last unit always returns")


def format_seconds(seconds: float) -> str:
    """`3.2 ms`, `1.4 s`, `2 min 05 s`."""
    if seconds < 1:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"
