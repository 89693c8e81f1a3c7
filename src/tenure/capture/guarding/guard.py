"""Stands between our code and the program: one piece of ours at a time, its time counted, its failures kept inside."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from tenure.capture.guarding.handlers import is_from_signal_handler

_tracing_state = torch._C._get_tracing_state
"""Of `torch.jit.trace` on this thread: it would write what we ask of tensors into the program's graph, or end the
process (a size read in a trace whose tensors need gradients, torch 2.13)."""


class Guard:
    """Open until something of ours fails, or until it is switched off; never opened again.

    `note_failure` writes down what failed, `let_go` takes our hooks out of the program; where these fail too, that is
    passed over.
    """

    def __init__(self, note_failure: Callable[[str], None], let_go: Callable[[], None]) -> None:
        self._note_failure = note_failure
        self._let_go = let_go
        self.off = False
        self.busy = False
        self.own_seconds = 0.0
        self.lock = threading.RLock()

    def is_shut(self) -> bool:
        """Whether nothing more is done, or something of ours runs just now."""
        return self.off or self.busy

    def run(self, work: Callable[..., None], *args: Any) -> None:
        """Run our own code so that nothing of it reaches the program, and count its time; not in a trace."""
        if self.off:
            return
        with self.lock:
            if self.busy:
                return
            self.busy = True
            started = perf_counter()
            try:
                if _tracing_state() is None:
                    work(*args)
            except RecursionError:
                pass  # the program is too deep for us just now, and any call from here would raise again
            except Exception as error:
                if is_from_signal_handler(error):
                    raise
                self.switch_off(_describe_failure(error))
            finally:
                self.busy = False
                self.own_seconds += perf_counter() - started

    def switch_off(self, failure: str | None = None) -> None:
        """Do nothing more; a failure is noted and said in one line."""
        if failure is not None:
            with suppress(Exception):
                self._note_failure(failure)
            self.say_once(failure.splitlines()[0])
        self.off = True
        with suppress(Exception):
            self._let_go()

    def say_once(self, text: str) -> None:
        """Tell the user why the recording ends, unless it has ended."""
        if not self.off:
            with suppress(Exception):
                print(f"tenure: recording stopped, the program goes on: {text}", file=sys.stderr)

    def abandon(self) -> None:
        """Go silent in a forked child, whose parent may have held the lock."""
        self.off = True
        self.lock = threading.RLock()


def _describe_failure(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    places = "\n".join(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames)
    return f"{type(error).__name__}: {error}\n{places}"
