"""What a release will do, found out and checked before anything is touched."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tenure.capture.heap.autograd import is_leaf
from tenure.errors import ReleaseError
from tenure.model.units import format_bytes
from tenure.release.storage_refs import StorageRefs, addresses_of
from tenure.release.unloading.heap_scan import (
    Scan,
    groups_of,
    lent_modules,
    optimizers_of,
    parameters_of,
    scan_heap,
    shared_with_others,
)
from tenure.release.unloading.in_use import describe_calls, is_backward_running
from tenure.release.unloading.letting_go import averaged_copies, state_tensors
from tenure.release.unloading.loaded import is_loaded
from tenure.release.unloading.slots import Slot, modules_below, slots_of, tensors_below
from tenure.release.unloading.taking_apart import attribute_tensors
from tenure.release.unloading.target import is_on
from tenure.release.unloading.wanted import Wanted, is_optimizer, name_of, tensors_of
from tenure.release.verify import Verification

_MOST_NAMED = 5


@dataclass
class Plan:
    """What is to be done, known to be possible.

    `modules` are those to act on, each with its name; `slots` their parameters and buffers, less what is `kept`.
    `expected` is the memory that has to go; `also` what modules merely refer to: counted where it goes, no survivor
    where others have it too.
    """

    wanted: Wanted
    target: torch.device | None
    force: bool
    modules: list[tuple[nn.Module, str]]
    slots: list[Slot]
    optimizers: list[Any]
    copies: list[tuple[str, Any, list[torch.Tensor]]]
    shared: list[Slot]
    """Slots of other modules with the same memory, taken too: only with `force`."""
    expected: StorageRefs
    also: StorageRefs
    kept: list[str]
    num_on_meta: int
    """Parameters and buffers that had no memory before."""

    @property
    def empties(self) -> bool:
        """Whether the tensors go, rather than move."""
        return self.target is None or self.target.type == "meta"

    @property
    def tensors(self) -> set[int]:
        """Ids of the parameters and buffers to act on."""
        return {id(slot.tensor) for slot in self.slots}

    def parameters_leaving(self, optimizer: Any) -> set[int]:
        """Ids of the parameters that an optimizer loses: the modules', or all where it is released itself."""
        if self.wanted.whole and any(optimizer is item for item in self.wanted.optimizers):
            return {id(item) for item in parameters_of(optimizer)}
        return self.tensors & {id(item) for item in parameters_of(optimizer)}

    def leaves(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor's memory goes from where it is."""
        if tensor.device.type == "meta":
            return False
        return self.empties or self.target is None or not is_on(tensor.device, self.target)


def make_plan(wanted: Wanted, target: torch.device | None, *, force: bool) -> Plan:
    """The plan; ReleaseError where something stands against it. Looks at the heap once, or twice with a collection
    in between, so that garbage does not count among those who need something."""
    if is_backward_running():
        raise ReleaseError("a backward is running, and it reads what is to be released; release after it")
    own = modules_below(wanted.roots)
    in_block = next((name for module, name in own.values() if is_loaded(module)), "")
    if in_block:
        raise ReleaseError(f"{in_block} is loaded by a `with tenure.loaded(...)` block; release it after that block")
    running = "" if force else describe_calls(own.keys())
    if running:
        raise ReleaseError(f"{_names(wanted)}: {running}. Release after it ends, or with force=True")
    scripted = next((name for module, name in own.values() if isinstance(module, torch.jit.ScriptModule)), "")
    if scripted:
        raise ReleaseError(
            f"{scripted} is TorchScript, which keeps its tensors in C++: drop its names, or move it with its `.to()`; "
            "`with tenure.expect_freed(module):` says what holds it"
        )
    scan = scan_heap()
    plan, trainers = _survey(wanted, target, scan, force=force)
    if plan.kept or plan.shared or trainers:
        del scan, plan, trainers  # they would keep the garbage that they found
        gc.collect()
        scan = scan_heap()
        plan, trainers = _survey(wanted, target, scan, force=force)
    if trainers and not force:
        raise ReleaseError(_describe_trainers(wanted, trainers))
    plan.optimizers += [optimizer for optimizer, _ in trainers]
    _expect(plan)
    return plan


def _survey(
    wanted: Wanted, target: torch.device | None, scan: Scan, *, force: bool
) -> tuple[Plan, list[tuple[Any, int]]]:
    """The plan as far as others have a say in it, and the optimizers that were not passed and train its parameters."""
    own = modules_below(wanted.roots)
    lent = {} if force else lent_modules(scan, own.keys(), {id(root) for root in wanted.roots})
    left = modules_below(own[number][0] for number in lent)
    modules = [item for number, item in own.items() if number not in left]
    slots = list(slots_of(modules))
    mine = {address for slot in slots for address in addresses_of(slot.tensor)}
    shared = shared_with_others(scan, mine, {id(module) for module, _ in modules})
    spared = {} if force else shared
    with_others = [slot for slot in slots if spared and any(each in spared for each in addresses_of(slot.tensor))]
    others = {id(slot) for slot in with_others}
    acted = [slot for slot in slots if id(slot) not in others and slot.tensor.device.type != "meta"]
    kept = [f"`{own[number][1]}`: it is `{name}` too" for number, name in lent.items()]
    kept += _describe_spared(with_others, spared)
    plan = Plan(
        wanted=wanted,
        target=target,
        force=force,
        modules=modules,
        slots=acted,
        optimizers=list({groups_of(optimizer): optimizer for optimizer in wanted.optimizers}.values()),
        copies=[found for holder in wanted.holders for found in averaged_copies(holder, slots)],
        shared=list(shared.values()) if force else [],
        expected=StorageRefs(),
        also=StorageRefs(),
        kept=kept,
        num_on_meta=sum(slot.tensor.device.type == "meta" for slot in slots),
    )
    known = {groups_of(optimizer) for optimizer in wanted.optimizers}
    return plan, optimizers_of(scan, plan.tensors, known)


def _expect(plan: Plan) -> None:
    """Note the memory that will go, by weak references."""
    for slot in plan.slots:
        if plan.leaves(slot.tensor):
            plan.expected.add(slot.tensor, f"`{slot.name}`")
        if is_leaf(slot.tensor) and slot.tensor.grad is not None:
            plan.expected.add(slot.tensor.grad, f"the gradient of `{slot.name}`")
    for optimizer in plan.optimizers:
        for tensor in state_tensors(optimizer, plan.parameters_leaving(optimizer)):
            if plan.leaves(tensor):
                plan.expected.add(tensor, f"state of {type(optimizer).__name__}")
    for name, _, tensors in plan.copies:
        for tensor in filter(plan.leaves, tensors):
            plan.expected.add(tensor, f"`{name}`")
    if plan.wanted.whole and plan.target is None:
        for holder in plan.wanted.holders:
            if not is_optimizer(holder):
                for tensor in tensors_of(holder):
                    plan.expected.add(tensor, f"what {name_of(holder)} has")
                for tensor in tensors_below(holder):
                    plan.also.add(tensor, f"what {name_of(holder)} leads to")
    for name, tensor in attribute_tensors(module for module, _ in plan.modules):
        if plan.leaves(tensor) or not is_leaf(tensor):
            plan.also.add(tensor, f"`{name}`")
    plan.also.leave_out(list(plan.expected.by_address))


def _describe_spared(slots: Iterable[Slot], shared: dict[int, Slot]) -> list[str]:
    """One line per place that others share, for the first few."""
    lines = []
    for slot in slots:
        other = next(shared[address].name for address in addresses_of(slot.tensor) if address in shared)
        size = format_bytes(slot.tensor.numel() * slot.tensor.element_size())
        lines.append(f"`{slot.name}`, {size}: `{other}` is the same memory (force=True takes it from both)")
    left_out = len(lines) - _MOST_NAMED
    return lines if left_out <= 0 else [*lines[:_MOST_NAMED], f"{left_out} more that others share"]


def _describe_trainers(wanted: Wanted, trainers: Iterable[tuple[Any, int]]) -> str:
    verification = Verification()
    told = []
    for optimizer, count in trainers:
        names = verification.names_of({id(optimizer)}, inside={id(optimizer)})
        held = f" ({', '.join(names)})" if names else ""
        told.append(f"{type(optimizer).__name__}{held} trains {count} of its parameters")
    way_out = "Pass the optimizer too, and it forgets them, or force=True. Nothing was changed"
    return f"{_names(wanted)}: {' and '.join(told)}. {way_out}"


def _names(wanted: Wanted) -> str:
    return ", ".join(dict.fromkeys(name_of(item) for item in (*wanted.roots, *wanted.holders)))
