"""Makes of this process one that has imported torch and forks: each copy goes on as the program, whose start is over.

Asked for by TENURE_PREPARED, two file descriptors: orders come in at the first, one JSON object in a line, answers go
out at the second. Python calls this before the program, of which nothing has run yet; a copy returns to Python, which
starts the program as always. Standard library only up to the import of torch. No tensor is computed here and no thread
is made, so that a copy is as good as a process that has just started.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_AHEAD = "tenure.capture.ahead"


def serve(descriptors: str, load: Callable[[], None], begin: Callable[[], None]) -> None:
    """Fork a copy for each order; returns in the copies only. `load` makes `tenure` importable, `begin` is called in
    each copy once its environment is the order's."""
    asked, told = (int(each) for each in descriptors.split(","))
    failure = _prepare(load)
    _tell(told, {"failure": failure})
    for order in _orders_of(asked) if failure is None else ():
        pid = os.fork()
        if not pid:
            os.close(asked)
            os.close(told)
            _become(order)
            begin()
            return
        _tell(told, {"pid": pid})
        _tell(told, {"exit_code": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])})
    os._exit(0)


def _prepare(load: Callable[[], None]) -> str | None:
    """Import what every run needs; why that cannot be done here, or None."""
    try:
        load()
        importlib.import_module(_AHEAD)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    gc.collect()
    gc.freeze()  # what was there before the program is nothing of its own: looks at the heap pass it by
    return None if threading.active_count() == 1 else "something has started a thread before the program"


def _orders_of(descriptor: int) -> Iterator[dict[str, Any]]:
    """One at a time: the next comes when the last one's exit code has been told."""
    line = b""
    while part := os.read(descriptor, 65536):
        line += part
        if part.endswith(b"\n"):
            yield json.loads(line)
            line = b""


def _tell(descriptor: int, answer: dict[str, Any]) -> None:
    os.write(descriptor, json.dumps(answer).encode() + b"\n")


def _become(order: dict[str, Any]) -> None:
    """Folder, output, environment and arguments of one run; a fresh process where this one would hide the program's
    own modules."""
    os.setsid()
    os.chdir(order["folder"])
    for number, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(file, number)
        os.close(file)
    os.environ.update(order["environment"])
    os.environ["TENURE_LAUNCHER"] = str(os.getppid())
    if _hides_modules_of(_program_folder()):
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:], *order["arguments"]])
    sys.argv.extend(order["arguments"])
    sys.orig_argv.extend(order["arguments"])
    importlib.invalidate_caches()
    set_native_id = getattr(threading.main_thread(), "_set_native_id", None)
    if set_native_id is not None:  # Python 3.11 leaves that of the process before
        set_native_id()


def _program_folder() -> str:
    """Where Python will look for modules first."""
    script = sys.argv[0]
    return os.getcwd() if script == "-m" else os.path.dirname(os.path.realpath(script))  # noqa: PTH109, PTH120


def _hides_modules_of(folder: str) -> bool:
    """Whether a module that is loaded here has the name of one in the program's folder."""
    for entry in os.scandir(folder):
        name = entry.name.partition(".")[0]
        found = sys.modules.get(name)
        if found is None or name in sys.builtin_module_names:
            continue
        is_module = entry.name.endswith((".py", ".so")) or os.path.exists(os.path.join(entry.path, "__init__.py"))  # noqa: PTH110, PTH118
        if is_module and name != "__main__":
            return True
    return False
