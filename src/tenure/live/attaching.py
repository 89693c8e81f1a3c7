"""The recorder put into a program that runs already: by `sys.remote_exec`, which Python has from 3.14 on.

Not run yet on such a Python: the tests have it carried out by a stand-in.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tenure.capture.start_up import PACKAGE
from tenure.errors import UsageError

ANSWER_SECONDS = 20.0
"""The program answers between two instructions of its main thread; a long call into C keeps it from it."""
POLL_SECONDS = 0.05


def can_attach() -> bool:
    """Whether this Python offers it."""
    return hasattr(sys, "remote_exec")


def attach(pid: int, folder: Path, *, execute: Callable[[int, str], None] | None = None) -> Path:
    """Have the process record into a folder below `folder`, which is made; gives back `folder`.

    UsageError in one line where the system forbids it, its Python is another, or it does not answer.
    """
    remote_exec = execute if execute is not None else getattr(sys, "remote_exec")  # noqa: B009 - 3.14 alone has it
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tenure-attach-") as scratch:
        Path(scratch).chmod(0o755)  # the process may be another user's
        script, answer = Path(scratch, "begin.py"), folder / ".attached"
        script.write_text(_script(folder, answer), encoding="utf-8")
        try:
            remote_exec(pid, str(script))
        except (OSError, RuntimeError, ValueError) as error:
            raise UsageError(f"process {pid} lets nobody in: {error}; start it as `tenure run` to watch it") from error
        failure = _wait(answer, pid)
    if failure is not None:
        raise UsageError(f"process {pid} is not recorded: {failure}")
    return folder


def _script(folder: Path, answer: Path) -> str:
    module = PACKAGE / "capture" / "startup" / "_tenure_attach.py"
    lines = [
        "def _tenure_attach():",
        "    from importlib.util import module_from_spec, spec_from_file_location",
        f"    spec = spec_from_file_location('_tenure_attach', {str(module)!r})",
        "    module = module_from_spec(spec)",
        "    spec.loader.exec_module(module)",
        f"    module.begin({str(folder.resolve())!r}, {str(PACKAGE)!r}, {str(answer.resolve())!r})",
        "",
        "_tenure_attach()",
        "del _tenure_attach",
    ]
    return "\n".join(lines) + "\n"


def _wait(answer: Path, pid: int) -> str | None:
    until = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < until:
        try:
            failure = json.loads(answer.read_text(encoding="utf-8"))["failure"]
        except (OSError, ValueError):
            time.sleep(POLL_SECONDS)
            continue
        answer.unlink(missing_ok=True)
        return None if failure is None else str(failure)
    return f"it has not answered in {ANSWER_SECONDS:.0f} s; its main thread may be in a long call"
