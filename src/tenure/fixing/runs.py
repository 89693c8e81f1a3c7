"""One run of the user's program: recorded, seeded, in a scratch folder, edited, and ended where it takes too long."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from tenure.capture.options import MonitorOptions
from tenure.capture.start_up import make_environment, request_of, without_request
from tenure.capture.writing.folders import SEED_VARIABLE
from tenure.fixing.guard import MIRRORS, find_library, find_roots, guard_environment, read_refused
from tenure.fixing.mirror import Mirror, make_guarded_mirror, make_mirror
from tenure.fixing.overlay import unused_files, write_overlay
from tenure.fixing.prepared import Copy, NotPreparedError, PreparedProcess, can_prepare
from tenure.fixing.written import Written, read_written

GRACE_SECONDS = 10.0
MORE_TIME = 3.0
"""A later run may take so many times the first one's time, and at least a minute, where no limit was given."""
LEAST_LIMIT_SECONDS = 60.0
SEED = 0


T = TypeVar("T")
Child = subprocess.Popen[bytes] | Copy


@dataclass(frozen=True)
class Order:
    """What to run: `command`, started in `folder`, whose look-alike is made below `scratch` unless `in_place`."""

    command: tuple[str, ...]
    folder: Path
    scratch: Path
    in_place: bool = False
    steps: int | None = None
    timeout: float | None = None
    environment: tuple[tuple[str, str], ...] = ()
    prepares: bool = False
    """Whether runs begin as copies of one process that has imported torch, where that can be done."""


@dataclass(frozen=True)
class Run:
    """What one run left: its recording's folder, its output, and the files that it wrote, by digest.

    `texts` are those of the files that are compared word by word; `refused` is what the guard kept from being written.
    """

    recording: Path
    exit_code: int
    timed_out: bool
    stdout: str
    stderr: str
    written: dict[str, str]
    folder: Path
    worked_in: Path
    changed_originals: tuple[Path, ...] = ()
    not_loaded: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()

    def in_the_tree(self, value: T) -> T:
        """A copy of plain values and dataclasses in which names of files are of the tree, not of its scratch copy."""
        return _renamed(value, str(self.worked_in), str(self.folder)) if self.worked_in != self.folder else value

    @property
    def outputs(self) -> tuple[str, str, Written]:
        """Stdout, stderr and files, as they are compared."""
        return self.stdout, self.stderr, Written(self.written, dict(self.texts))

    @property
    def last_line(self) -> str:
        """The last line that it wrote to stderr; mostly what went wrong."""
        return _last_line(self.stderr)

    @property
    def last_words(self) -> str:
        """The last line that it wrote to stdout."""
        return _last_line(self.stdout)


class Runner:
    """Carries out runs one after the other, each in a fresh scratch folder of the same name."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.num_runs = 0
        self.is_bounded = False
        self._limit = order.timeout
        self._prepared: PreparedProcess | None = None
        self._prepares = order.prepares and can_prepare(order.command)
        self._library = None if order.in_place else find_library()
        self._roots = find_roots(order.folder, order.command)

    def bound(self, steps: int) -> None:
        """End all further runs after so many steps."""
        self.order, self.is_bounded = replace(self.order, steps=steps), True

    def start_afresh(self) -> bool:
        """Start all further runs as fresh processes; whether that is another way than the last one's."""
        was_copied = self._prepared is not None
        self.close()
        return was_copied

    def close(self) -> None:
        """End the process that is copied for runs, where there is one."""
        self._prepares = False
        prepared, self._prepared = self._prepared, None
        if prepared is not None:
            prepared.close()

    @property
    def working_folder(self) -> Path:
        """Where the program runs: the same place each time, so that what it prints of it is the same."""
        if self.order.in_place:
            return self.order.folder
        below = self.order.folder.resolve().relative_to("/") if self._library is not None else ""
        return self.order.scratch / MIRRORS / below

    def run(
        self,
        texts: Mapping[Path, bytes] | None = None,
        *,
        watched: bool = True,
        hash_at: Sequence[int] = (),
        arguments: Sequence[str] = (),
        options: MonitorOptions | None = None,
    ) -> Run:
        """Run the program, with edited texts in place of files, and wait for its end.

        Unless `watched`, only steps and the parameters' hashes are recorded: no censuses. Other `options` take the
        place of all that.
        """
        self.num_runs += 1
        recording = self.order.scratch / f"run-{self.num_runs:02d}"
        recording.mkdir(parents=True)
        overlay = self.order.scratch / f"overlay-{self.num_runs:02d}" if texts else None
        if overlay is not None and texts:
            write_overlay(overlay, texts)
        if options is None:
            options = MonitorOptions(stop_after=self.order.steps, experiment_step=0, hash_at=tuple(hash_at))
            if not watched:
                options = replace(options, census_at=(), profile_step=0)
        mirror = None if self.order.in_place else self._make_mirror()
        started = time.monotonic()
        code, timed_out = self._carry_out(arguments, recording, options, overlay)
        if self._limit is None:
            self._limit = max(LEAST_LIMIT_SECONDS, MORE_TIME * (time.monotonic() - started))
        written = read_written(mirror.written() if mirror else {})
        return Run(
            recording,
            exit_code=code,
            timed_out=timed_out,
            stdout=_read(recording / "stdout"),
            stderr=_read(recording / "stderr"),
            written=written.digests,
            texts=written.texts,
            refused=read_refused(self.order.scratch),
            folder=self.order.folder,
            worked_in=self.working_folder,
            changed_originals=tuple(mirror.changed_originals()) if mirror else (),
            not_loaded=tuple(unused_files(overlay)) if overlay is not None else (),
        )

    def _make_mirror(self) -> Mirror:
        if self._library is None:
            return make_mirror(self.order.folder, self.working_folder)
        base = self.order.scratch / MIRRORS
        return make_guarded_mirror(self.order.folder.resolve(), base, self._roots, self.order.scratch)

    def _carry_out(
        self, arguments: Sequence[str], recording: Path, options: MonitorOptions, overlay: Path | None
    ) -> tuple[int, bool]:
        """Exit code, and whether the run was ended for its time."""
        environment = make_environment(recording, options.as_dict(), overlay=overlay)
        environment |= {SEED_VARIABLE: str(SEED), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.setdefault("PYTHONHASHSEED", str(SEED))
        environment |= dict(self.order.environment)
        if self._library is not None:
            environment |= guard_environment(self._library, self.order.scratch, self._roots, environment)
        child = self._copy(arguments, recording, environment) if self._prepares and overlay is None else None
        return self._wait(child or self._start(arguments, recording, environment))

    def _copy(self, arguments: Sequence[str], recording: Path, environment: Mapping[str, str]) -> Copy | None:
        """A run that begins as a copy; None, from now on, where none can be made."""
        try:
            if self._prepared is None:
                log, common = self.order.scratch / "prepared", without_request(environment)
                self._prepared = PreparedProcess(self.order.command, self.working_folder, common, log)
            outputs = recording / "stdout", recording / "stderr"
            return self._prepared.start(arguments, self.working_folder, request_of(environment), *outputs)
        except NotPreparedError:
            self.close()
            return None

    def _start(
        self, arguments: Sequence[str], recording: Path, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        with (recording / "stdout").open("wb") as stdout, (recording / "stderr").open("wb") as stderr:
            return subprocess.Popen(
                [*self.order.command, *arguments],
                cwd=self.working_folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )

    def _wait(self, child: Child) -> tuple[int, bool]:
        try:
            return child.wait(self._limit), False
        except subprocess.TimeoutExpired:
            _end(child)
            return child.wait(), True
        finally:
            # Also after a Ctrl-C, which reaches us alone: the program has a session of its own.
            _end(child)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("tenure: ")]
    return lines[-1].strip() if lines else ""


def _renamed(value: Any, before: str, after: str) -> Any:
    if isinstance(value, str):
        return value.replace(before + os.sep, after + os.sep)
    if isinstance(value, (tuple, list)):
        return type(value)(_renamed(each, before, after) for each in value)
    if isinstance(value, dict):
        return {name: _renamed(each, before, after) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{each.name: _renamed(getattr(value, each.name), before, after) for each in fields(value)}
        )
    return value


def _end(child: Child) -> None:
    """End the program and all that it started: politely, then not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_SECONDS)
            if number == signal.SIGKILL:
                return


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")
