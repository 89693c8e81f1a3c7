"""Watches two steps as `op_watch` does, and learns whose each storage is: what `tenure plan` predicts from.

Owners are read where they change: before the first operation, where a backward pass begins and where it has ended, and
at the end. At each beginning of a backward pass a census tells what graphs keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from tenure.analysis.heap.kept_by_graphs import kept_by_graphs
from tenure.capture.guarding.handlers import is_from_signal_handler
from tenure.capture.heap.frames import locals_of
from tenure.capture.profile.as_on_cuda import choose_as_on_cuda
from tenure.capture.profile.flops import flops_of
from tenure.capture.profile.one_kernel import note_as_one
from tenure.capture.profile.op_watch import OpWatch, frame_above
from tenure.capture.profile.places import PLACES
from tenure.capture.profile.resized_storages import call_at_resizes
from tenure.capture.profile.run_notes import notes_of_run
from tenure.capture.profile.shards import are_fake_beside_shards, are_sharded
from tenure.capture.profile.storage_owners import (
    classes_of,
    find_modules,
    named_tensors,
    results_of_models,
    storage_of,
)
from tenure.capture.profile.whereabouts import Traces
from tenure.capture.tensors.fakes import computes_shapes_alone, fakes_in_force
from tenure.model.heap import GRAPH_CONTINUES, Census
from tenure.model.profile import BEFORE, Phase, StepProfile
from tenure.model.stream import Owner, StepStream, StorageOwners
from tenure.model.units import format_bytes

MAX_GRAPH_READS = 16
"""Backward passes of the two steps at whose beginning a census is taken; the steps of more are noted."""
_CALL_CODE = torch.nn.Module._call_impl.__code__
RECURRENT = "recurrent layers run in cuDNN on a device, which keeps a reserve of its own in place of what was recorded"
DATA_PARALLEL = (
    "DataParallel copies the model to every device in each forward, and gathers outputs on the first, none of which is "
    "in the plan; what a rank of DistributedDataParallel needs is told by --world-size"
)
_COLLECTIVES = ("c10d.", "_c10d_functional.")
_REDUCES = "c10d.allreduce_.default"
KERNELS = (
    "steps of torchao's optimizers were counted as the one kernel that they are compiled to; what it takes besides is "
    "not in the plan"
)
NOWHERE = (
    "{} of what the steps made or dropped met no operation that tells where it lies, nor does the program say so: it "
    "is counted on the device"
)
BUCKETS = "(buckets of DistributedDataParallel)"
NEVER = (-1, -1)
ON_HOST_BYTES = 8192
"""Numbers that a graph keeps, and the host's random state at a checkpoint, are no larger and are on the host anyway."""


class StreamWatch(OpWatch):
    """`read_graphs` takes a census now."""

    notes_uses = False
    leaves_numbers = False

    def __init__(self, *, seconds: float, is_busy: Callable[[], bool], read_graphs: Callable[[], Census]) -> None:
        super().__init__(seconds=seconds, is_busy=is_busy)
        self.modules: list[str | None] = []
        self.flops: list[int] = []
        self.graph_reads: list[int] = []
        self.notes: list[str] = []
        self._read_graphs = read_graphs
        self._names: dict[int, str] = {}
        self._owners: dict[int, tuple[Owner, str, str]] = {}
        self._traces = Traces()
        self._kept: dict[int, tuple[int, int]] = {}
        self._was_backward = False
        self._num_skipped = 0
        self._emptied: dict[int, int] = {}
        self._restore: tuple[Callable[[], None], ...] = ()

    def begin(self) -> None:
        """Also reads names of modules and owners."""
        super().begin()
        if self.stopped is None:
            self._names = find_modules()
            self.read_owners()
            used = classes_of(self._names)
            for cls, note in ((torch.nn.RNNBase, RECURRENT), (torch.nn.DataParallel, DATA_PARALLEL)):
                if any(issubclass(each, cls) for each in used):
                    self._note_once(note)
            for tensor in results_of_models():
                self._note_place(tensor, True)
            PLACES.watching, PLACES.knows_device = self._note_place, self._is_there
            kernels = note_as_one(self._enter_kernel, self._leave_kernel)
            self._restore = choose_as_on_cuda(), call_at_resizes(self.note_resize), kernels

    def end(self, why: str = "ended") -> bool:
        """As `OpWatch.end`."""
        PLACES.stop_watching()
        restore, self._restore = self._restore, ()
        for each in restore:
            each()
        return super().end(why)

    def hands_on(self, types: Sequence[Any]) -> bool:
        """Operations of shards are seen as those of their local parts, and collectives beside them."""
        return are_sharded(types)

    def passes_by(self, types: Sequence[Any]) -> bool:
        """Shards learn shapes of results from fake tensors, which take no memory."""
        if fakes_in_force() is not None:
            return computes_shapes_alone()
        return are_fake_beside_shards(types)

    def _enter_kernel(self) -> None:
        self.within_kernel = True

    def _leave_kernel(self, name: str, tensors: list[Any]) -> None:
        self.within_kernel = False
        if self.stopped is None:
            self.note_call(name, (), tensors, None, None)
            self._note_once(KERNELS)

    def note_resize(self, storage: Any, size: int, is_parameter: bool) -> None:
        """A storage has been given `size` bytes: its life ends, and unless that is nothing another begins.

        So do sharded models gather parameters and let them go without a tensor's birth or death.
        """
        if self.stopped is not None or self._is_busy():
            return
        with self._lock:
            address = int(storage._cdata)
            before = self._alive.get(address)
            if before is not None:
                self._end_row(before)
                self._emptied[address] = before
            if not size:
                return
            before = self._emptied.pop(address, None)
            kind = ("cpu", "uint8", f"[{size}]") if before is None else self.kind_of(before)
            row = self._add_row(address, storage, size, kind, BEFORE, len(self.names))
            if is_parameter:
                self._owners[row] = Owner.PARAMETER, "", self._module_now() or ""
                self._traces.on_device.add(row)
            elif before is not None and before in self._traces.on_device:
                self._traces.on_device.add(row)

    def read_owners(self) -> None:
        """Whose the tensors are that have an owner now. Costs a look at the type of every object on the heap."""
        for tensor, owner, name, module in named_tensors(self._names):
            address = storage_of(tensor)
            row = self._alive.get(address) if address is not None else None
            if row is None and address is not None and not self.names:
                self._note_storage(tensor, BEFORE, BEFORE)
                row = self._alive.get(address)
            if row is None:
                continue
            known = self._owners.get(row)
            if known is None or owner < known[0]:
                self._owners[row] = owner, name, module
            # Of an optimizer's state counts of steps may stay on the host.
            if owner is not Owner.OPTIMIZER_STATE or tensor.dim():
                self._traces.on_device.add(row)

    def note_call(self, function: Any, types: Sequence[Any], args: Any, kwargs: Any, result: Any) -> None:
        """Also reads graphs or owners where a backward pass begins or has ended."""
        if self.passes_by((type(result),)):
            return
        before = len(self.names)
        super().note_call(function, types, args, kwargs, result)
        if self.stopped is not None or len(self.names) == before or self._is_busy():
            return
        try:
            self._at_borders(self.phases[-1] == Phase.BACKWARD)
        except Exception as error:
            self.stopped = f"{type(error).__name__}: {error}"
            self._forget()
            if is_from_signal_handler(error):
                raise

    def _at_borders(self, is_backward: bool) -> None:
        if is_backward and not self._was_backward:
            self._note_graphs()
        elif self._was_backward and not is_backward:
            self.read_owners()
        self._was_backward = is_backward

    def _noted(
        self, function: Any, args: Any, kwargs: Any, result: Any, used: Sequence[Any], made: Sequence[Any]
    ) -> None:
        self.modules.append(self._module_now())
        self.flops.append(flops_of(function, args, kwargs, result))
        rows = [(self._row_of(tensor), tensor) for tensor in used]
        if self.names[-1].startswith(_COLLECTIVES):
            self._note_reduced(row for row, _ in rows if row is not None)
        self._traces.meet(self.names[-1], rows, map(self._row_of, made), kwargs or ())

    def _note_storage(self, tensor: Any, operation: int, birth: int) -> int | None:
        num_rows = len(self.addresses)
        row = super()._note_storage(tensor, operation, birth)
        if len(self.addresses) > num_rows and (said := PLACES.of(tensor)) is not None:
            self._note_place(tensor, said)
        return row

    def _note_place(self, tensor: Any, on_device: bool) -> None:
        """The program has said where a tensor lies."""
        row = self._row_of(tensor)
        if row is not None:
            self._traces.tell(row, on_device)

    def _is_there(self, tensor: Any) -> bool:
        return self._row_of(tensor) in self._traces.on_device

    def _note_reduced(self, rows: Iterable[int]) -> None:
        """NCCL takes what lies on devices only; what backward reduces are buckets of gradients."""
        for row in rows:
            self._traces.on_device.add(row)
            if self.names[-1] == _REDUCES and self.phases[-1] == Phase.BACKWARD:
                self._owners.setdefault(row, (Owner.GRADIENT, "", BUCKETS))

    def _row_of(self, tensor: Any) -> int | None:
        address = storage_of(tensor)
        return self._alive.get(address) if address is not None else None

    def _module_now(self) -> str | None:
        """The name of the innermost module whose call is running; None outside of any, and where it is not known."""
        frame: Any = frame_above(5)
        while frame is not None:
            if frame.f_code is _CALL_CODE:
                module = next((value for name, value in locals_of(frame) if name == "self"), None)
                return self._names.get(id(module))
            frame = frame.f_back
        return None

    def _note_graphs(self) -> None:
        self.read_owners()
        if len(self.graph_reads) >= MAX_GRAPH_READS:
            self._num_skipped += 1
            return
        self.graph_reads.append(len(self.names) - 1)
        census = self._read_graphs()
        if (census.nodes.flags & GRAPH_CONTINUES).any():
            self._note_once("a graph is deeper than can be walked safely: what it keeps is told in part")
        kept = {
            int(census.nodes.address[census.storages.node[row]]): int(census.storages.bytes[row])
            for row in kept_by_graphs(census, self._names)
        }
        unseen = 0
        for address, size in kept.items():
            row = self._alive.get(address)
            if row is None:
                unseen += size if size > ON_HOST_BYTES else 0
            else:
                self._kept[row] = self._kept.get(row, (self.graph_reads[-1],))[0], self.graph_reads[-1]
                if size > ON_HOST_BYTES:
                    self._traces.keep(row)
        if unseen:
            self._note_once(
                f"a graph keeps {format_bytes(unseen)} that no operation was seen to make: not in the stream"
            )

    def _note_once(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def finish(self, profile: StepProfile) -> StepStream:
        """What was seen, beside the profile of the same operations; to be called before the watch ends."""
        self.read_owners()
        if self._num_skipped:
            self._note_once(f"graphs were read at the first {MAX_GRAPH_READS} backward passes of the two steps only")
        strings = {text: position for position, text in enumerate(profile.strings)}

        def position(text: str | None) -> int:
            return -1 if text is None else strings.setdefault(text, len(strings))

        modules = np.array([position(name) for name in self.modules], dtype=np.int64)
        rows = range(len(self.addresses))
        found = self._traces.find(self, self._owners.keys(), guess=not PLACES.says_where)
        if found.num_guessed_bytes > ON_HOST_BYTES:
            self._note_once(NOWHERE.format(format_bytes(found.num_guessed_bytes)))
        met = found.met_bytes
        known = [self._owners.get(row) for row in rows]
        owners = StorageOwners(
            owner=np.array([Owner.NONE if each is None else each[0] for each in known], dtype=np.int64),
            name=np.array([position(None if each is None else each[1]) for each in known], dtype=np.int64),
            module=np.array([self._module_of(row, each, position) for row, each in zip(rows, known, strict=True)]),
            kept_from=np.array([self._kept.get(row, NEVER)[0] for row in rows], dtype=np.int64),
            kept_to=np.array([self._kept.get(row, NEVER)[1] for row in rows], dtype=np.int64),
            on_device=np.array([row in met for row in rows], dtype=np.int64),
            met_bytes=np.array([met.get(row, 0) for row in rows], dtype=np.int64),
        )
        # What was resized after the last operation begins with it.
        births = np.minimum(profile.storages.birth, max(len(self.names) - 1, 0))
        told = replace(profile, strings=tuple(strings), storages=replace(profile.storages, birth=births))
        flops = np.array(self.flops, dtype=np.int64)
        fakes = fakes_in_force()
        notes = (*notes_of_run(), *self.notes, *(fakes.notes() if fakes is not None else ()))
        return StepStream(told, modules, owners, tuple(self.graph_reads), notes, flops)

    def _module_of(self, row: int, owner: tuple[Owner, str, str] | None, position: Callable[[str | None], int]) -> int:
        if owner is not None:
            return position(owner[2])
        birth = self.births[row]
        return position(self.modules[birth]) if BEFORE < birth < len(self.modules) else -1
