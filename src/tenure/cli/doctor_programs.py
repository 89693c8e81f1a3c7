"""What the calls of programs say about devices, pinned memory and loader workers. The programs are read, not run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tenure.cli.doctor_settings import FRACTION_CALL
from tenure.errors import UsageError
from tenure.model.units import format_bytes

LEAST_SHARED_MEMORY = 1 << 30


def read_programs(paths: Sequence[Path]) -> dict[str, ast.Module]:
    """The syntax trees of programs by file name. Raises UsageError for a file that is missing or cannot be parsed."""
    trees = {}
    for path in paths:
        try:
            trees[str(path)] = ast.parse(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
        except SyntaxError as error:
            raise UsageError(f"cannot parse {path}: line {error.lineno}: {error.msg}") from None
    return trees


def check_programs(
    programs: Mapping[str, ast.Module], *, num_devices: int | None, shared_memory_bytes: int | None
) -> list[str]:
    """What the programs' calls say about devices, pinned memory and loader workers."""
    advice = []
    for file, tree in programs.items():
        calls = list(_calls(tree))
        for name, call in calls:
            place = f"{file}:{call.lineno}"
            if name in ("DataParallel", "data_parallel"):
                advice.append(
                    f"{place}: DataParallel copies the model to every device in each step and gathers results on the "
                    "first; DistributedDataParallel keeps one process and one copy per device"
                )
            if name == "DataLoader":
                advice += _check_loader(place, call, num_devices, shared_memory_bytes)
        advice += _check_copies(file, calls, num_devices)
    return advice


def _check_loader(place: str, call: ast.Call, num_devices: int | None, shared_memory_bytes: int | None) -> list[str]:
    advice = []
    if _is_true(call, "pin_memory") and not num_devices:
        advice.append(f"{place}: pin_memory=True does nothing without a CUDA device")
    workers = _keyword(call, "num_workers")
    has_workers = workers is not None and not (isinstance(workers, ast.Constant) and workers.value == 0)
    if has_workers and shared_memory_bytes is not None and shared_memory_bytes < LEAST_SHARED_MEMORY:
        advice.append(
            f"{place}: loader workers hand batches over in /dev/shm, which has {format_bytes(shared_memory_bytes)} "
            "here; in a container ask for more (--shm-size)"
        )
    return advice


def _check_copies(file: str, calls: Sequence[tuple[str, ast.Call]], num_devices: int | None) -> list[str]:
    pins = any(name == "pin_memory" or _may_be_true(call, "pin_memory") for name, call in calls)
    copies = [call for name, call in calls if name in ("to", "cuda", "copy_") and _is_true(call, "non_blocking")]
    if not copies or pins:
        return []
    there = "" if num_devices else " to a CUDA device"
    return [
        f"{file}:{copies[0].lineno}: non_blocking=True waits all the same for a copy{there} of memory that is not "
        "pinned; give the DataLoader pin_memory=True"
    ]


def calls_fraction(programs: Mapping[str, ast.Module]) -> bool:
    """Whether some program sets the memory fraction of its process."""
    return any(name == FRACTION_CALL for tree in programs.values() for name, _ in _calls(tree))


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Every call with the last name of what it calls; of a name that was imported as another, its own."""
    imports = (each for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for each in node.names)
    own_names = {each.asname: each.name for each in imports if each.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield node.func.attr, node
            elif isinstance(node.func, ast.Name):
                yield own_names.get(node.func.id, node.func.id), node


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _may_be_true(call: ast.Call, name: str) -> bool:
    value = _keyword(call, name)
    return value is not None and not (isinstance(value, ast.Constant) and not value.value)


def _is_true(call: ast.Call, name: str) -> bool:
    value = _keyword(call, name)
    return isinstance(value, ast.Constant) and value.value is True
