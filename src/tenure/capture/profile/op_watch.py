"""Watches every operation of one thread (and of autograd's engine on its behalf) with a dispatch mode.

Notes which storages an operation used and made, and when they die: by weak references, whose callback comes at the
storage's own death. Changes no value, holds no tensor, never synchronises. Torch's mode stack is left as it was;
where a mode of the program lies on top of ours, or an inference mode began after it, ours only passes operations on
until it can be taken off.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode

from tenure.capture.guarding.handlers import is_from_signal_handler
from tenure.capture.heap.origins import is_library_file
from tenure.capture.heap.own_tables import keep_from_censuses
from tenure.capture.profile.before_backward import BeforeBackward
from tenure.capture.tensors.arguments import tensors_in
from tenure.capture.tensors.fakes import ASKS_FOR_DEVICE, fakes_in_force
from tenure.capture.tensors.inference_modes import DispatchKeyBringers, bring_keys_back, is_entered_inference_mode
from tenure.capture.tensors.storage_serials import storages_tell_their_death
from tenure.capture.tensors.storages import bytes_of, handles_operations, shape_text, sparse_parts, storage_id_of
from tenure.model.profile import ALIVE, BEFORE, Phase

MAX_OPERATIONS = 300_000
_TORCH_OPTIM = "/torch/optim/"
_USER, _LIBRARY, _OPTIMIZER = range(3)
_CALL_CODE = torch.nn.Module._call_impl.__code__
_OF_OTHER_FORMULAS = ("aten.prod.", "aten.cumprod.")
"""Whose gradients torch computes by other formulas, rounded otherwise, while any mode is on a backward pass's stack
(`areAnyTensorSubclassLike` in FunctionsManual.cpp)."""
_FRESH = "aten.lift_fresh.default"
"""What `torch.tensor` runs on what it has just made."""

_CHANGES_NUMBERS = "the gradient of a product has other last bits while operations are watched"

Site = tuple[str, int, str]
Operation = tuple[str, int, int]


class OpWatch:
    """What the operations of a stretch of the program did, as growing columns. One thread fills them.

    `stopped` says why nothing more is noted; None while it goes on. The first `num_before` storages were there as
    watching began. `uses` has an operation's number and a storage's row for each storage that it was given. `after` is
    called after each operation with its number.
    """

    notes_uses = True
    leaves_numbers = True
    """Watch no longer where a backward pass would give other numbers for it, in their last bits."""

    def __init__(self, *, seconds: float, is_busy: Callable[[], bool]) -> None:
        self.stopped: str | None = None
        self.within_kernel = False
        self.after: Callable[[int], None] | None = None
        self.own_seconds = 0.0
        self.names: list[str] = []
        self.sites: list[int] = []
        self.phases: list[int] = []
        self.site_numbers: dict[Site, int] = {}
        self.addresses: list[int] = []
        self.sizes: list[int] = []
        self.devices: list[str] = []
        self.dtypes: list[str] = []
        self.shapes: list[str] = []
        self.births: list[int] = []
        self.last_uses: list[int] = []
        self.deaths: list[int] = []
        self.uses: list[tuple[int, int]] = []
        self.num_before = 0
        self._budget = seconds
        self._is_busy = is_busy
        self._alive: dict[int, int] = {}
        self._references: dict[int, _Death] = {}
        self._file_kinds: dict[str, int] = {}
        self._operation_names: dict[Any, str] = {}
        self._lock = threading.Lock()
        self._thread = 0
        self._mode = _WatchingMode()
        self._mode.watch = self
        keep_from_censuses(self)
        self._on_stack = False
        self._bringers = DispatchKeyBringers([])
        self._before_backward = BeforeBackward(self._go_before_backward)

    @property
    def num_operations(self) -> int:
        """Operations noted so far."""
        return len(self.names)

    def operation(self, number: int) -> Operation:
        """What makes an operation the same in another step: name, statement and phase."""
        return self.names[number], self.sites[number], self.phases[number]

    def kind_of(self, row: int) -> tuple[str, str, str]:
        """Device, type and shape of a storage."""
        return self.devices[row], self.dtypes[row], self.shapes[row]

    def statement_of(self, row: int) -> tuple[str, int] | None:
        """The operation and the place that made a storage; None where it was not seen to be made."""
        birth = self.births[row]
        return (self.names[birth], self.sites[birth]) if BEFORE < birth < len(self.names) else None

    def begin(self) -> None:
        """Put the mode on this thread's stack; `stopped` says so where that would do harm."""
        self.stopped = why_not_here()
        if self.stopped is None:
            self.stopped = "its beginning was interrupted"
            self._thread = threading.get_ident()
            self._note_live_tensors()
            self.num_before = len(self.addresses)
            self._mode.__enter__()
            self._on_stack = True
            self._before_backward.install()
            self.stopped = None

    def see_again(self) -> None:
        """Watch on where an inference mode has ended that was on when watching began: its end took torch's key for
        modes away, as every call of a function under `@torch.inference_mode()` does, and ours was passed by since."""
        if self.stopped is None and self._on_stack:
            bring_keys_back()

    def end(self, why: str = "ended") -> bool:
        """Note nothing more, and take the mode off the stack if it lies on top: False where it has to wait."""
        if self.stopped is None:
            self.stopped = why
        self._forget()
        if self._on_stack and self._may_be_taken_off():
            self._mode.__exit__(None, None, None)
            self._on_stack = False
            self._before_backward.remove()
        return not self._on_stack

    def _go_before_backward(self) -> None:
        """Take the mode off before the backward pass of an operation whose gradient it would change."""
        if self.stopped == _CHANGES_NUMBERS and threading.get_ident() == self._thread:
            self.end()

    def _may_be_taken_off(self) -> bool:
        """Inside autograd's engine torch would put back the stack that it found."""
        on_top = _get_current_dispatch_mode() is self._mode
        return on_top and torch._C._current_graph_task_id() == -1 and not self._bringers.may_come()

    def note_call(self, function: Any, types: Sequence[Any], args: Any, kwargs: Any, result: Any) -> None:
        """One operation that has run. Costs about ten microseconds."""
        if self._is_busy():
            return
        started = time.perf_counter()
        try:
            with self._lock:  # several device threads may run one backward pass
                self._note(function, types, args, kwargs, result)
        except BaseException as error:
            self.stopped = f"{type(error).__name__}: {error}"
            self._forget()
            if not isinstance(error, Exception) or is_from_signal_handler(error):
                raise
        self.own_seconds += time.perf_counter() - started
        if self.stopped is None and self.own_seconds > self._budget:
            self.stopped = f"watching took more than {self._budget:g} s"
        if self.stopped is not None:
            self._forget()
        elif self.after is not None:
            self.after(len(self.names) - 1)

    def _note_live_tensors(self) -> None:
        """What is there before the first operation; costs a look at the type of every object on the heap."""
        kinds: dict[int, bool] = {}
        entered: list[weakref.ref[Any]] = []
        for item in gc.get_objects():
            cls = type(item)
            if is_entered_inference_mode(item):
                entered.append(weakref.ref(item))
            is_tensor = kinds.get(id(cls))
            if is_tensor is None:
                is_tensor = kinds[id(cls)] = issubclass(cls, torch.Tensor) and not _is_foreign(cls)
            for tensor in _dense_parts([item]) if is_tensor else ():
                self._note_storage(tensor, BEFORE, BEFORE)
        self._bringers = DispatchKeyBringers(entered)

    def _note(self, function: Any, types: Sequence[Any], args: Any, kwargs: Any, result: Any) -> None:
        if types and any(map(_is_foreign, types)):
            self.stopped = "tensor subclasses that handle operations themselves are in use"
            return
        number = len(self.names)
        if number >= MAX_OPERATIONS:
            self.stopped = f"a step has more than {MAX_OPERATIONS:,} operations"
            return
        phase, site = self._place(frame_above(3))
        name = self._operation_names.get(function)
        if name is None:
            name = self._operation_names[function] = str(function)
        self.names.append(name)
        self.phases.append(phase)
        self.sites.append(site)
        used = _dense_parts(tensors_in((*args, *kwargs.values()) if kwargs else args))
        if self.leaves_numbers and name.startswith(_OF_OTHER_FORMULAS) and any(each.requires_grad for each in used):
            self.stopped = _CHANGES_NUMBERS
            return
        for tensor in used:
            row = self._note_storage(tensor, number, number if name == _FRESH else BEFORE)
            if row is not None and self.notes_uses:
                self.uses.append((number, row))
        made = _dense_parts(tensors_in((result,)))
        for tensor in made:
            self._note_storage(tensor, number, number)
        self._noted(function, args, kwargs, result, used, made)

    def _noted(
        self, function: Any, args: Any, kwargs: Any, result: Any, used: Sequence[Any], made: Sequence[Any]
    ) -> None:
        """One operation has been noted; for who wants to know more of it."""

    def _note_storage(self, tensor: Any, operation: int, birth: int) -> int | None:
        """Gives back the storage's row; None for what has no storage or no bytes."""
        try:
            address = storage_id_of(tensor)
        except RuntimeError:
            return None
        known = self._alive.get(address)
        if known is not None:
            self.last_uses[known] = operation
            return known
        size = bytes_of(tensor)
        if not size:
            return None
        kind = str(tensor.device), str(tensor.dtype).removeprefix("torch."), shape_text(tensor)
        return self._add_row(address, tensor.untyped_storage(), size, kind, operation, birth)

    def _add_row(
        self, address: int, storage: Any, size: int, kind: tuple[str, str, str], operation: int, birth: int
    ) -> int:
        """`kind` is device, dtype and shape; the last use is `operation`. Gives back the row's number."""
        number = len(self.addresses)
        self._alive[address] = number
        self._references[number] = _Death(storage, self._note_death, number)
        self.addresses.append(address)
        self.sizes.append(size)
        for column, text in zip((self.devices, self.dtypes, self.shapes), kind, strict=True):
            column.append(text)
        self.births.append(birth)
        self.last_uses.append(operation)
        self.deaths.append(ALIVE)
        return number

    def _note_death(self, reference: _Death) -> None:
        self._end_row(reference.number)

    def _end_row(self, number: int) -> None:
        if self._references.pop(number, None) is not None:
            self.deaths[number] = len(self.names) - 1
            if self._alive.get(self.addresses[number]) == number:
                del self._alive[self.addresses[number]]

    def _place(self, frame: Any) -> tuple[int, int]:
        """Phase and statement: the innermost one of the user's code."""
        phase = Phase.BACKWARD if torch._C._current_graph_task_id() != -1 else Phase.OTHER
        found = None
        while frame is not None:
            code = frame.f_code
            kind = self._kind_of(code.co_filename)
            if kind == _USER:
                if found is None:
                    found = frame
            elif phase is Phase.OTHER:
                if code is _CALL_CODE:
                    phase = Phase.FORWARD
                elif kind == _OPTIMIZER:
                    phase = Phase.OPTIMIZER
            frame = frame.f_back
        if found is None and threading.get_ident() != self._thread:
            found = self._waiting_statement()
        if found is None:
            return phase, -1
        code = found.f_code
        site = (code.co_filename, found.f_lineno or 0, getattr(code, "co_qualname", code.co_name))
        return phase, self.site_numbers.setdefault(site, len(self.site_numbers))

    def _waiting_statement(self) -> Any:
        """The frame of the user's statement that waits for a thread of autograd's, which has no such frame itself: what
        lies on an accelerator has a thread of its own for its backward pass. Some microseconds."""
        frame: Any = sys._current_frames().get(self._thread)
        while frame is not None and self._kind_of(frame.f_code.co_filename) != _USER:
            frame = frame.f_back
        return frame

    def _kind_of(self, name: str) -> int:
        kind = self._file_kinds.get(name)
        if kind is None:
            kind = self._file_kinds[name] = _kind_of_file(name)
        return kind

    def hands_on(self, types: Sequence[Any]) -> bool:
        """Whether these tensors' classes are to take an operation apart first: what they run comes by again."""
        return False

    def passes_by(self, types: Sequence[Any]) -> bool:
        """Whether operations of these tensors' classes are to be run and not noted."""
        return False

    def _forget(self) -> None:
        self._references.clear()
        self._alive.clear()
        self.after = None


def _dense_parts(tensors: Iterable[Any]) -> list[Any]:
    """Sparse tensors by the dense ones that they are made of; the others as they are."""
    return [part for tensor in tensors for part in sparse_parts(tensor) or (tensor,)]


def frame_above(depth: int) -> Any:
    """The frame so many calls above the caller's; None where there are fewer, as in a thread of autograd's."""
    try:
        return sys._getframe(depth + 1)
    except ValueError:
        return None


class _Death(weakref.ref):  # type: ignore[type-arg]
    """A weak reference to a storage that knows the storage's number."""

    __slots__ = ("number",)
    number: int

    def __new__(cls, storage: Any, callback: Any, number: int) -> _Death:
        made = super().__new__(cls, storage, callback)
        made.number = number
        return made

    def __init__(self, storage: Any, callback: Any, number: int) -> None:
        super().__init__(storage, callback)  # type: ignore[call-arg]


class _WatchingMode(TorchDispatchMode):  # type: ignore[misc]
    """Runs each operation as it would have run, then has it noted."""

    watch: OpWatch
    supports_higher_order_operators = True


def _dispatch(mode: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    watch = mode.watch
    if watch.stopped is not None or watch.within_kernel or function is ASKS_FOR_DEVICE:
        return function(*args, **(kwargs or {}))
    if types and watch.hands_on(types):
        return NotImplemented
    if types and watch.passes_by(types):
        return function(*args, **(kwargs or {}))
    try:
        result = function(*args, **(kwargs or {}))
    except BaseException as error:
        watch.stopped = f"an operation raised {type(error).__name__}"
        del args, kwargs  # the traceback keeps this frame
        raise error.with_traceback(_below_our_call(error.__traceback__))  # noqa: B904 - the same one
    watch.note_call(function, types, args, kwargs, result)
    return result


def _is_foreign(cls: Any) -> bool:
    """Whether a tensor class has operations of its own, of which a plan's fake tensors have none that count."""
    fakes = fakes_in_force()
    return handles_operations(cls) and (fakes is None or cls is not fakes.tensor_class)


def _below_our_call(trace: Any) -> Any:
    """The traceback without this call and torch's own below it, which would hold the operation's arguments."""
    below = trace.tb_next if trace is not None else None
    return below.tb_next if below is not None and below.tb_frame.f_code.co_filename.endswith("_ops.py") else below


# Set here and not in the class's body, where torch would wrap it so that its first call loads all of dynamo.
_WatchingMode.__torch_dispatch__ = _dispatch


def why_not_here() -> str | None:
    """Why a mode of ours would disturb what runs on this thread just now; None where it would not."""
    active, fakes = _get_current_dispatch_mode(), fakes_in_force()
    if active is not None and (fakes is None or active is not fakes.mode):
        return "another dispatch mode is active"
    if torch._C._functorch.peek_interpreter_stack() is not None:
        return "a functorch transform is active"
    if torch._C._current_graph_task_id() != -1:
        return "a backward pass is under way"
    if not storages_tell_their_death():
        return f"torch {torch.__version__} does not tell when a storage dies"
    return None


def _kind_of_file(name: str) -> int:
    if _TORCH_OPTIM in name.replace("\\", "/"):
        return _OPTIMIZER
    return _LIBRARY if is_library_file(name) else _USER
