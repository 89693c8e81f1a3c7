"""`tenure.oom_guard()`: what happens when memory runs out in a step.

A last recording is written while everything is still there, the failed step's variables are emptied so that it really
is freed, and then the error goes on, the step is skipped, or it is tried again with a smaller batch.
"""

from __future__ import annotations

import functools
import gc
import inspect
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Literal, TypeVar

import torch

from tenure.errors import UsageError
from tenure.release.cut_graph import carries_graph
from tenure.release.device_bytes import compare, give_back_cache, read_device_bytes
from tenure.release.out_of_memory.failed_step import clear_failed_frames, frames_of, is_out_of_memory
from tenure.release.out_of_memory.last_recording import write_last_recording
from tenure.release.out_of_memory.ranks import Agreement
from tenure.release.out_of_memory.smaller_batch import Arguments, batch_size_of, halve_batch
from tenure.release.outcome import Outcome, Survivor
from tenure.release.steps.bound_names import check_names, is_with_statement, names_bound_between
from tenure.release.steps.frame_names import read_names, read_variables, rebind_names
from tenure.release.storage_refs import StorageRefs
from tenure.release.verify import Verification
from tenure.store.new_folder import check_free, name_recording

_DEFAULT = "out-of-memory"
_written: set[str | Path | bool] = set()
"""What this process has written; True stands for the folder that is named by program and time."""
Then = Literal["raise", "skip", "retry"]
_Function = TypeVar("_Function", bound=Callable[..., Any])


class OtherRankError(RuntimeError):
    """Another rank ran out of memory: raised by `agree()` inside the block, and caught at its end."""


class OomGuard:
    """Made by `oom_guard`. `outcome` says what was done when memory ran out last, or that it has not.

    `happened` is whether the block (or call) that ended last failed, on this rank or, where ranks agree, on any.
    """

    def __init__(
        self, then: Then, smaller: Callable[..., Arguments | None], folder: Path | None, keep: Collection[str]
    ) -> None:
        self.outcome = Outcome("memory has not run out")
        self.happened = False
        self._then = then
        self._smaller = smaller
        self._folder = folder
        self._keep = keep
        self._agreement: Agreement | None = None
        self._agreed = False
        self._frame: FrameType | None = None
        self._start = 0

    def __enter__(self) -> OomGuard:
        if self._then == "retry":
            raise UsageError(
                'a `with` block cannot be run again; then="retry" is for a function: @tenure.oom_guard(then="retry")'
            )
        frame = sys._getframe(1)
        self._begin()
        if is_with_statement(frame.f_code, frame.f_lasti):
            self._frame, self._start = frame, frame.f_lasti
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> bool:
        frame, self._frame = self._frame, None
        if error is None or isinstance(error, OtherRankError):
            others_failed = error is not None or self._ask(False)
            if others_failed:
                self._note_other_rank()
            return error is not None
        if not is_out_of_memory(error):
            return False
        unagreed = not self._agreed
        self._handle(error, functools.partial(self._drop_names, frame, trace))
        self._ask(True)
        return self._then == "skip" and unagreed

    def __call__(self, function: _Function) -> _Function:
        """The function, guarded at every call; `function.guard.outcome` says what was done."""
        if not callable(function) or inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise UsageError(f"oom_guard decorates a plain function; {function!r} was given")

        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            return self._call(function, args, kwargs)

        guarded.guard = self  # type: ignore[attr-defined]
        wrapped: Any = guarded
        result: _Function = wrapped
        return result

    def agree(self) -> None:
        """Before the first collective of the block: go on only if no rank has run out of memory so far.

        Where one has, the block ends here on every rank. An error after this point is raised whatever was asked for,
        for the other ranks are past the place where they could be told.
        """
        failed = self._ask(False)
        self._agreed = True
        if failed:
            raise OtherRankError("another rank ran out of memory in this step")

    def _begin(self) -> None:
        self.happened = self._agreed = False
        if self._agreement is None and self._then != "raise":
            self._agreement = Agreement()

    def _ask(self, failed: bool) -> bool:
        """Whether any rank failed; asked once per block."""
        if self._agreement is None or self._agreed:
            return failed
        return self._agreement.any_rank(failed)

    def _call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._begin()
        while True:
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                self._handle(error, list)
                smaller = self._after_failure(args, kwargs, failed=True)
                if smaller is None and self._then != "skip":
                    raise
                result = None
            else:
                if not self._ask(False):
                    return result
                result = None
                self._note_other_rank()
                smaller = self._after_failure(args, kwargs, failed=False)
                if smaller is None and self._then != "skip":
                    raise OtherRankError("another rank ran out of memory, and there is no smaller batch")
            if smaller is None:
                return None
            args, kwargs = smaller

    def _after_failure(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, failed: bool) -> Arguments | None:
        """Tells the other ranks; the arguments to try next, None for none."""
        if failed:
            self._ask(True)
        smaller = self._smaller(*args, **kwargs) if self._then == "retry" else None
        if smaller is not None:
            self._note_retry(args, kwargs, smaller)
        return smaller

    def _handle(self, error: BaseException, drop_names: Callable[[], list[str]]) -> None:
        """Record, free, and say so. Nothing here may hide the program's error."""
        started = time.perf_counter()
        self.happened = True
        did: list[str] = []
        if self._folder is not None:
            did += _record_once(self._folder, error)
            self._folder = None
        before = read_device_bytes()
        lost = _tensors_of_failed_step(error)
        cleared = clear_failed_frames(error)
        did.append(f"emptied the variables of {cleared} functions that the error came through")
        did += drop_names()
        gc.collect()
        give_back_cache(before)
        after = read_device_bytes()
        notes = [str(error).splitlines()[0]] if str(error) else []
        survivors: tuple[Survivor, ...] = ()
        if any(each.is_alive for each in lost):
            try:
                survivors = Verification().survivors(lost)
            except Exception as failure:  # there may be no memory for a census
                notes.append(f"who holds the rest could not be found: {type(failure).__name__}: {failure}")
        self.outcome = Outcome(
            what=f"memory ran out ({type(error).__name__})",
            devices=compare(before, after, lost),
            survivors=survivors,
            did=tuple(did),
            notes=tuple(notes),
            seconds=time.perf_counter() - started,
        )

    def _drop_names(self, frame: FrameType | None, trace: TracebackType | None) -> list[str]:
        """Binds to None what the block had bound to tensors by then."""
        if frame is None:
            return ["the guard was not entered by a `with` statement: the block's own names were left"]
        end = trace.tb_lasti if trace is not None and trace.tb_frame is frame else frame.f_lasti
        names = names_bound_between(frame.f_code, self._start, end)
        values = read_names(frame, names, self._keep)
        empty: dict[str, Any] = {name: None for name, value in values.items() if _leads_to_tensor(value)}
        values.clear()
        if not empty:
            return []
        reason = rebind_names(frame, empty, names)
        listed = ", ".join(f"`{name}`" for name in sorted(empty))
        return [f"left {listed} as they are: {reason}" if reason else f"bound to None: {listed}"]

    def _note_other_rank(self) -> None:
        self.happened = True
        self.outcome = Outcome(what="another rank ran out of memory", notes=("this step is skipped on all ranks",))

    def _note_retry(self, args: tuple[Any, ...], kwargs: dict[str, Any], smaller: Arguments) -> None:
        sizes = batch_size_of((args, kwargs)), batch_size_of(smaller)
        text = "tried again with smaller arguments" if None in sizes else f"tried again: batch {sizes[0]} -> {sizes[1]}"
        self.outcome = replace(self.outcome, did=(*self.outcome.did, text))


def oom_guard(
    *,
    then: Then = "raise",
    smaller: Callable[..., Arguments | None] | None = None,
    record: str | Path | bool = True,
    keep: Collection[str] = (),
) -> OomGuard:
    """`with tenure.oom_guard(then="skip") as guard:` around a step, or `@tenure.oom_guard(then="retry")` on one.

    When memory runs out: the first time in this process a last recording is written to `record` (True: a folder named
    after the program and the time; False: none), then the variables of the functions that failed are emptied, the
    block's own names for tensors bound to None (except `keep`), garbage collected and the allocator's cache given
    back. Then the error goes on ("raise"), the block ends ("skip", a decorated function gives back None), or a
    decorated function is called again with what `smaller(*args, **kwargs)` gives back as (args, kwargs), by default
    the first half of the batch, until it fits or gives back None ("retry").

    With several ranks and "skip" or "retry" the ranks agree after each block on the CPU, or earlier at `guard.agree()`,
    which belongs before the block's first collective. While memory lasts the guard costs some microseconds, and with
    ranks one exchange. Raises UsageError for other values, and where something lies at `record`.
    """
    if then not in ("raise", "skip", "retry"):
        raise UsageError(f'then is "raise", "skip" or "retry"; {then!r} was given')
    if smaller is not None and not callable(smaller):
        raise UsageError(f"smaller is a function that gives back (args, kwargs), or None; {smaller!r} was given")
    if not isinstance(record, bool | str | Path):
        raise UsageError(f"record is a folder, True or False; {record!r} was given")
    check_names("oom_guard", keep)
    return OomGuard(then, smaller or halve_batch, _folder_for(record), keep)


def _folder_for(record: str | Path | bool) -> Path | None:
    """Where the last recording goes; None where none is wanted, or where this process has written it already."""
    if record is False or record in _written:
        return None
    if record is not True:
        check_free(Path(record))
    return Path(_DEFAULT if record is True else record)


def _record_once(folder: Path, error: BaseException) -> tuple[str, ...]:
    """The first failure is the one to look at; guards are often made anew in each step."""
    record: str | Path | bool = True if folder == Path(_DEFAULT) else folder
    if record in _written:
        return ()
    _written.update((record, str(record)))
    if record is True:
        folder = Path(f"out-of-memory-{name_recording(sys.argv[0] if sys.argv else '').removeprefix('recording-')}")
    return write_last_recording(folder, error)


def _tensors_of_failed_step(error: BaseException) -> StorageRefs:
    """Tensors with a graph in the failed functions: what must be gone afterwards."""
    refs = StorageRefs()
    for frame in frames_of(error):
        for name, value in read_variables(frame):
            if isinstance(value, torch.Tensor) and carries_graph(value):
                refs.add(value, f"`{name}` in {frame.f_code.co_name}")
    return refs


def _leads_to_tensor(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return any(map(_leads_to_tensor, inner))
