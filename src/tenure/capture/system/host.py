"""Who ran, where and with what: the contents of a recording's process.json."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tenure.capture.system.ranks import find_place
from tenure.store.process_mark import mark_of_process

ENVIRONMENT_ALLOWED = (
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "LRU_CACHE_CAPACITY",
    "MALLOC_ARENA_MAX",
    "MALLOC_TRIM_THRESHOLD_",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY",
    "PYTHONMALLOC",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "RANK",
    "TORCHELASTIC_RESTART_COUNT",
    "WORLD_SIZE",
)
_SECRET = re.compile(r"token|secret|passw|api[-_]?key|credential", re.IGNORECASE)


def describe_process(environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Versions, arguments and an allow-list of the environment; values of arguments named like secrets are masked."""
    torch: Any = sys.modules.get("torch")
    place = find_place(environment)
    return {
        "argv": hide_secrets(sys.argv),
        "executable": sys.executable,
        "cwd": os.getcwd(),  # noqa: PTH109 - a string is wanted, and pathlib would be one import more
        "pid": os.getpid(),
        "process_mark": mark_of_process(os.getpid()),
        "time": time.time(),
        "python": platform.python_version(),
        "torch": str(getattr(torch, "__version__", "")),
        "cuda": getattr(getattr(torch, "version", None), "cuda", None),
        "platform": sys.platform,
        "machine": platform.machine(),
        "rank": place.rank,
        "local_rank": place.local_rank,
        "world_size": place.world_size,
        "node": place.node,
        "restart": place.restart,
        "main_file": file_of_main(),
        "environment": {name: environment[name] for name in ENVIRONMENT_ALLOWED if name in environment},
    }


def file_of_main() -> str | None:
    """The script; None without one. Programs set `__file__ = Path(__file__)`."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.fspath(file) if isinstance(file, (str, Path)) else None


def hide_secrets(arguments: Sequence[str]) -> list[str]:
    """The same arguments with `***` for what follows a name such as --hf-token."""
    shown, mask_next = [], False
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        named_like_secret = bool(_SECRET.search(name)) and (bool(equals) or name.startswith("-"))
        if mask_next and not argument.startswith("-"):
            shown.append("***")
        elif named_like_secret and equals:
            shown.append(f"{name}=***")
        else:
            shown.append(argument)
        mask_next = named_like_secret and not equals
    return shown
