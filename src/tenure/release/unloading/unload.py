"""`tenure.release`: unload modules, pipelines and optimizers, and prove what came back."""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tenure.capture.heap.origins import is_own_file
from tenure.model.units import format_bytes
from tenure.release.commit import ONE_AT_A_TIME, Changes
from tenure.release.cut_graph import carries_graph
from tenure.release.device_bytes import Reading, compare, give_back_cache, read_device_bytes
from tenure.release.outcome import Outcome
from tenure.release.storage_refs import StorageRef, addresses_of, collect_until_gone
from tenure.release.unloading.graph_ties import tied_to
from tenure.release.unloading.letting_go import LettingGo, forget_parameters, state_tensors
from tenure.release.unloading.moving import Moves, pack_again
from tenure.release.unloading.plan import Plan, make_plan
from tenure.release.unloading.slots import has_packed_weights
from tenure.release.unloading.taking_apart import (
    close,
    destroy,
    drop_attributes,
    drop_gradients,
    drop_hooks,
    drop_offloading,
    empty_graph_leaves,
    empty_slots,
    is_closed,
)
from tenure.release.unloading.target import read_target
from tenure.release.unloading.wanted import is_container, is_optimizer, name_of, sort_out, tensors_of
from tenure.release.verify import Verification

_MOST_NAMED = 5


def release(*objects: Any, to: str | torch.device | None = None, force: bool = False) -> Outcome:
    """Unload modules, and say what came back and who holds the rest.

    Every module passed is unloaded. Any other object beside them (a pipeline, cache, list, optimizer, averaged copy)
    lets go of what it has of these modules; passed without a module, it is unloaded itself, with all that it holds.

    `to=None` is for good: parameters and buffers, gradients, hooks, kept results and copies go, and whoever still has
    the module has an empty shell that says so when called. `to="meta"` empties it too, but leaves a skeleton to load
    anew (`load_state_dict(..., assign=True)`). Any other device takes the tensors over, and the module stays usable;
    gradients and the graphs of kept results go.

    Weights and submodules that modules outside of the call share are left alone and told as `kept`; `force=True`
    takes them too, from everyone.

    Raises ReleaseError, with everything as it was, where an object cannot be released: it is no such object, an
    optimizer that was not passed trains it (unless forced), a thread is inside a call of it (unless forced), a
    backward is running, the device is not there. Costs three or four collections of the process, most of it for
    the census that verifies.
    """
    started = time.perf_counter()
    target = read_target(to)
    wanted = sort_out(objects)
    del objects
    with ONE_AT_A_TIME:
        before = read_device_bytes()
        with torch._C.DisableTorchFunctionSubclass():  # parameters that are yet to be shaped answer nothing otherwise
            plan = make_plan(wanted, target, force=force)
        told = _tell(plan)
        _act(plan, told, place_of_caller())
        leaves = list({id(slot.tensor): slot.tensor for slot in plan.slots}.values()) if plan.empties else []
        del wanted, plan
        empty_graph_leaves(leaves)
        return _verify(told, before, started)


@dataclass(frozen=True)
class _Told:
    """What is known of a plan once it was carried out; refers to nothing that was released but weakly."""

    what: str
    expected: tuple[StorageRef, ...]
    also: tuple[StorageRef, ...]
    kept: tuple[str, ...]
    modules: tuple[weakref.ref[nn.Module], ...]
    did: list[str]
    notes: list[str]
    for_good: bool


def _tell(plan: Plan) -> _Told:
    verb = "released" if plan.target is None else "emptied" if plan.empties else f"moved to {plan.target}:"
    names = dict.fromkeys(name_of(item) for item in (*plan.wanted.roots, *plan.wanted.holders))
    shown = [*list(names)[:_MOST_NAMED], *([f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else [])]
    return _Told(
        what=f"{verb} {', '.join(shown)}",
        expected=tuple(plan.expected),
        also=tuple(plan.also),
        kept=tuple(plan.kept),
        modules=tuple(weakref.ref(module) for module, _ in plan.modules),
        did=[],
        notes=_notes_before(plan),
        for_good=plan.target is None,
    )


def _notes_before(plan: Plan) -> list[str]:
    notes = [f"{type(root).__name__} was released already ({is_closed(root)})"
             for root in plan.wanted.roots if is_closed(root)]  # fmt: skip
    num_packed = sum(has_packed_weights(module) for module, _ in plan.modules) if plan.target is None else 0
    if num_packed:
        modules = "a module" if num_packed == 1 else f"{num_packed} modules"
        notes.append(f"{modules} kept packed weights in C++, which go too: nobody tells how many bytes")
    elif not (notes or plan.kept or plan.expected.by_address or plan.also.by_address) and plan.modules:
        if plan.num_on_meta:
            stay = "" if plan.empties else ", and stay there"
            notes.append(f"its parameters and buffers were on meta, without memory{stay}")
        else:
            notes.append("it had no memory" if plan.empties else f"all of it was on {plan.target} before")
    return notes


# -- the act ------------------------------------------------------------------------------------------------------


def _act(plan: Plan, told: _Told, place: str) -> None:
    """Prepare every change, then make them all. What fails before leaves everything as it was, and so does this."""
    changes = Changes()
    with torch.inference_mode(False), torch.no_grad():  # what is copied here is used outside of the caller's mode
        if plan.empties:
            _prepare_emptying(plan, told, changes)
        else:
            _prepare_moving(plan, told, changes)
        if plan.target is None:
            _prepare_end(plan, told, changes, place)
        changes.make()
        if not plan.empties:
            pack_again(module for module, _ in plan.modules)


def _prepare_emptying(plan: Plan, told: _Told, changes: Changes) -> None:
    num_bytes = drop_gradients(changes, plan.slots)
    if num_bytes:
        told.did.append(f"dropped gradients, {format_bytes(num_bytes)}")
    shells = empty_slots(changes, plan.slots)
    if shells:
        told.did.append(f"emptied {len(shells):,} parameters and buffers")
    if plan.target is not None:
        _empty_attributes(plan, plan.target, shells, changes)
    if plan.force:
        destroy(changes, (*plan.slots, *plan.shared))
    if plan.shared:
        told.did.append(f"took the memory of `{plan.shared[0].name}` too, and of {len(plan.shared) - 1} other slots")
    for optimizer in plan.optimizers:
        leaving = plan.parameters_leaving(optimizer)
        state = list(state_tensors(optimizer, leaving))
        forget_parameters(changes, optimizer, leaving)
        size = format_bytes(sum(tensor.numel() * tensor.element_size() for tensor in state))
        told.did.append(f"took {len(leaving):,} parameters and {size} of state from {type(optimizer).__name__}")
    for name, container, tensors in plan.copies:
        changes.replace_contents(container, type(container)())
        told.did.append(f"dropped {len(tensors):,} averaged copies `{name}`")


def _empty_attributes(
    plan: Plan, meta: torch.device, shells: Sequence[tuple[torch.Tensor, torch.Tensor]], changes: Changes
) -> None:
    """What the modules of a skeleton keep beside their tables loses its memory too."""
    moves = Moves(changes, lambda name, tensor: meta)
    for tensor, shell in shells:
        moves.know(tensor, shell)
    for module, name in plan.modules:
        drop_offloading(changes, module)
        moves.move_attributes(module, name)


def _prepare_moving(plan: Plan, told: _Told, changes: Changes) -> None:
    target = plan.target
    assert target is not None
    num_bytes = drop_gradients(changes, plan.slots)
    if num_bytes:
        told.did.append(f"dropped gradients, {format_bytes(num_bytes)}")
    moves = Moves(changes, lambda name, tensor: target)
    moves.move_slots(plan.slots)
    for module, name in plan.modules:
        moves.move_attributes(module, name)
    for optimizer in plan.optimizers:
        leaving = plan.parameters_leaving(optimizer)
        for key, entry in optimizer.state.items():
            if id(key) in leaving:
                moves.moved(entry, type(optimizer).__name__)
    for name, container, _ in plan.copies:
        moves.moved(container, name)


def _prepare_end(plan: Plan, told: _Told, changes: Changes, place: str) -> None:
    """What is only done for good: hooks, kept results and the references of holders go, and calls say so."""
    num_hooks, attributes = 0, []
    for module, name in plan.modules:
        num_hooks += drop_hooks(changes, module)
        if not is_closed(module):
            attributes += [f"`{name}.{key}`" for key in drop_attributes(changes, module)]
            close(changes, module, type(module).__name__, place)
    if num_hooks:
        told.did.append(f"removed {num_hooks} hooks")
    if attributes:
        more = f" and {len(attributes) - _MOST_NAMED} more" if len(attributes) > _MOST_NAMED else ""
        told.did.append(f"dropped what modules kept beside: {', '.join(attributes[:_MOST_NAMED])}{more}")
    gone = plan.tensors | {id(module) for module, _ in plan.modules}
    results = [tensor for holder in plan.wanted.holders for tensor in tensors_of(holder) if carries_graph(tensor)]
    addresses = {address for slot in plan.slots for address in addresses_of(slot.tensor)}
    letting_go = LettingGo(changes, gone, addresses, tied_to(plan.tensors, results))
    del results
    done = {id(container) for _, container, _ in plan.copies}
    for holder in plan.wanted.holders:
        if not is_optimizer(holder):
            letting_go.skip(done)
            letting_go.clear(holder, _called(holder), whole=plan.wanted.whole)
    told.did.extend(letting_go.did)


def _called(holder: Any) -> str:
    return f"the {type(holder).__name__}" if is_container(holder) else type(holder).__name__


def place_of_caller() -> str:
    """`train.py:12`: the line of the program that is calling us."""
    frame = sys._getframe()
    while frame.f_back is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


# -- the proof ----------------------------------------------------------------------------------------------------


def _verify(told: _Told, before: Mapping[str, Reading], started: float) -> Outcome:
    collect_until_gone(told.expected)
    give_back_cache(storage.device for storage in told.expected)
    also = [storage for storage in told.also if not storage.is_alive]
    devices = compare(before, read_device_bytes(), [*told.expected, *also])
    bound = _ids(told.modules) if told.for_good else set()
    verification = None
    if bound or any(storage.is_alive for storage in told.expected):
        verification = Verification()
    return Outcome(
        what=told.what,
        devices=devices,
        survivors=verification.survivors(told.expected) if verification else (),
        did=tuple(told.did),
        kept=told.kept,
        still_bound=verification.names_of(bound, inside=bound) if verification and bound else (),
        notes=(*told.notes, *(verification.notes if verification else ())),
        seconds=time.perf_counter() - started,
    )


def _ids(modules: Sequence[weakref.ref[nn.Module]]) -> set[int]:
    return {id(module) for reference in modules if (module := reference()) is not None}
