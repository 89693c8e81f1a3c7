"""Runs that begin as copies of one process, which has imported torch once for all of them.

Importing torch, its compiler, which optimizers ask for, and the recorder takes longer than a few steps of most
programs. A copy is made before anything of the program has run, has a session of its own, and ends as any process does.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

PREPARED_VARIABLE = "TENURE_PREPARED"
PREPARING_SECONDS = 120.0
"""Longer than that no import of torch was seen to take; then runs are started one by one."""


class NotPreparedError(Exception):
    """Why no process could be made ready to be copied."""


class Copy:
    """One run as a copy: what of `subprocess.Popen` a caller needs that waits for it, or ends it."""

    def __init__(self, pid: int, answers: Answers) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._answers = answers

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, negative for a signal; `subprocess.TimeoutExpired` where it has not come in time."""
        if self.returncode is None:
            answer = self._answers.read(timeout)
            if answer is None:
                raise subprocess.TimeoutExpired(f"copy {self.pid}", timeout or 0.0)
            self.returncode = int(answer["exit_code"])
        return self.returncode


class Answers:
    """Lines of JSON from the other end of a pipe."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._lines = b""

    def read(self, timeout: float | None) -> dict[str, Any] | None:
        """The next; None where none has come in time. NotPreparedError where none will come."""
        until = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self._lines:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self.descriptor], [], [], left)[0]:
                return None
            part = os.read(self.descriptor, 65536)
            if not part:
                raise NotPreparedError("the prepared process has ended")
            self._lines += part
        line, _, self._lines = self._lines.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


class PreparedProcess:
    """Opened with the command whose runs are wanted; copies follow each other. Costs an import of torch, and its
    memory, which copies share until they write to it."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path) -> None:
        asked, self._orders = os.pipe()
        descriptor, told = os.pipe()
        self._answers = Answers(descriptor)
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env={**environment, PREPARED_VARIABLE: f"{asked},{told}"},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
                pass_fds=(asked, told),
            )
        os.close(asked)
        os.close(told)
        try:
            answer = self._answers.read(PREPARING_SECONDS) or {"failure": "importing torch took too long"}
            if answer["failure"] is not None:
                raise NotPreparedError(answer["failure"])
        except BaseException:
            self.close()
            raise

    def start(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], stdout: Path, stderr: Path
    ) -> Copy:
        """A copy that goes on as the program, with further arguments and with these variables besides."""
        order = {
            "arguments": list(arguments),
            "folder": str(folder),
            "environment": dict(environment),
            "stdout": str(stdout),
            "stderr": str(stderr),
        }
        with suppress(BrokenPipeError):  # reading tells
            os.write(self._orders, json.dumps(order).encode() + b"\n")
        answer = self._answers.read(None)
        assert answer is not None
        return Copy(answer["pid"], self._answers)

    def close(self) -> None:
        """End the process; a copy that runs is not ended."""
        os.close(self._orders)
        self._process.kill()
        self._process.wait()
        os.close(self._answers.descriptor)


def can_prepare(command: Sequence[str]) -> bool:
    """Whether a command's runs can be copies: a Python program of this interpreter, where processes fork safely."""
    return sys.platform == "linux" and command[0] == sys.executable
