"""Memory snapshots shaped as torch's own."""

from __future__ import annotations

from typing import Any


def frame(name: str, file: str = "/p/train.py", line: int = 7) -> dict[str, Any]:
    return {"name": name, "filename": file, "line": line}


UNWINDING = frame("torch::unwind::unwind()", "??", 0)
OF_TORCH = frame("linear", "/usr/lib/python3.11/site-packages/torch/nn/functional.py", 90)


def block(address: int, size: int, *, state: str = "active_allocated", frames: object = ()) -> dict[str, Any]:
    return {
        "address": address,
        "size": size,
        "requested_size": size - 12,
        "state": state,
        "frames": list(frames),  # type: ignore[call-overload]
    }


def snapshot(*blocks: dict[str, Any], events: int = 0, device: int = 0) -> dict[str, Any]:
    """One segment that begins with the first block."""
    in_use = sum(each["size"] for each in blocks if each["state"] != "inactive")
    segment = {
        "device": device,
        "address": blocks[0]["address"] if blocks else 0,
        "total_size": sum(each["size"] for each in blocks),
        "allocated_size": in_use,
        "active_size": in_use,
        "stream": 0,
        "segment_type": "small",
        "blocks": list(blocks),
    }
    trace = [{"action": "alloc", "addr": 64, "size": 8, "stream": 0, "frames": []}] * events
    return {"segments": [segment], "device_traces": [trace], "allocator_settings": {"expandable_segments": False}}
