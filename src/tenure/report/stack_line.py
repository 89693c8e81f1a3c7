"""A stack in one line: the innermost line that is not torch's, and the program's own that led there."""

from __future__ import annotations

from tenure.allocator.call_sites import autograd_node
from tenure.allocator.torch_frames import is_python
from tenure.model.allocator import Frame, Snapshot

_TORCH = ("/torch/", "\\torch\\", "<frozen", "/contextlib.py", "/runpy.py")
_INSTALLED = ("site-packages", "dist-packages", "/lib/python3")


def stack_line(snapshot: Snapshot, stack: int) -> str:
    """`model.py:12 in forward, called from train.py:30 in main`; without Python the node of autograd, if told."""
    frames = frames_of(snapshot, stack)
    if not frames:
        return "no stack was recorded"
    python = [frame for frame in frames if is_python(frame)]
    if not python:
        node = autograd_node(frames)
        return f"backward of {node}" if node else "no frame of Python: backward, or a thread of C++"
    inner = next((frame for frame in python if not _has(frame, _TORCH)), python[0])
    own = next((frame for frame in python if not _has(frame, _TORCH) and not _has(frame, _INSTALLED)), inner)
    return place_text(inner) if own is inner else f"{place_text(inner)}, called from {place_text(own)}"


def place_text(frame: Frame) -> str:
    """`model.py:12 in forward`."""
    return f"{frame.file.split('site-packages/')[-1]}:{frame.line} in {frame.function}"


def frames_of(snapshot: Snapshot, stack: int) -> list[Frame]:
    """Innermost first; none where no stack was recorded."""
    return [snapshot.frames[row] for row in snapshot.stacks[stack]] if stack >= 0 else []


def frames_as_dicts(snapshot: Snapshot, stack: int) -> list[dict[str, object]]:
    """The same for `--json`."""
    frames = frames_of(snapshot, stack)
    return [{"function": frame.function, "file": frame.file, "line": frame.line} for frame in frames]


def _has(frame: Frame, parts: tuple[str, ...]) -> bool:
    return any(part in frame.file for part in parts)
