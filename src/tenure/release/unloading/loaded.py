"""`with tenure.loaded(module, device):` a module on a device for as long as a block runs, and back afterwards."""

from __future__ import annotations

import time
import warnings
import weakref
from dataclasses import dataclass
from types import TracebackType

import torch
from torch import nn

from tenure.capture.heap.autograd import is_leaf
from tenure.errors import ReleaseError
from tenure.release.commit import ONE_AT_A_TIME, Changes
from tenure.release.device_bytes import Reading, compare, read_device_bytes
from tenure.release.outcome import Outcome
from tenure.release.storage_refs import StorageRef, StorageRefs, collect_until_gone
from tenure.release.unloading.in_use import describe_calls
from tenure.release.unloading.moving import DeviceOf, Moves, pack_again
from tenure.release.unloading.slots import modules_below, slots_of
from tenure.release.unloading.taking_apart import is_closed
from tenure.release.unloading.target import is_on, read_target
from tenure.release.verify import Verification


def loaded(module: nn.Module, device: str | torch.device) -> Loaded:
    """A context manager: `module` is on `device` inside of the block, and afterwards where each of its tensors was.

    Blocks of several threads or tasks may overlap: the first loads it, the last takes it back; all must name the same
    device. An exception leaves the block as it came, after the module was taken back. Values that the block changed
    (training, statistics of a norm) go back with it; so does what it made and the module keeps (the result of a call).

    What the block leaves on the device is told in `outcome`, and warned of (RuntimeWarning) where no exception
    explains it. Raises ReleaseError before anything moves: no module, released, without values (meta), another device
    named by a block that is open, a call of it in another thread, no such device. Costs the copies both ways and two
    looks at all objects of the process; collections and a census only where something stayed.
    """
    if not isinstance(module, nn.Module):
        raise ReleaseError(f"loaded() was given a {type(module).__name__}; pass a module")
    target = read_target(device)
    if target is None or target.type == "meta":
        raise ReleaseError(f"loaded() was given device {device!r}; name one that can compute")
    return Loaded(module, target)


class Loaded:
    """A block in which a module is on a device. `outcome` says what came back, once the last such block has ended."""

    def __init__(self, module: nn.Module, device: torch.device) -> None:
        self.device = device
        self.outcome: Outcome | None = None
        self._module = weakref.ref(module)
        self._waiting: nn.Module | None = module
        """Held until the block begins, for `with loaded(Model(), "cuda")`; the block itself holds nothing."""
        self._kept: list[nn.Module] = []
        """One for each time that the block was entered and not left yet."""

    def __enter__(self) -> Loaded:
        module, self._waiting = self._waiting, None
        module = module if module is not None else self._module()
        if module is None:
            raise ReleaseError("the module of this block is gone")
        with ONE_AT_A_TIME:
            _enter(module, self.device)
            self._kept.append(module)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        module = self._kept.pop()
        with ONE_AT_A_TIME:
            left = _leave(module)
            name = type(module).__name__
            del module, trace
            if left is None:
                return
            self.outcome = _verify(left, name, self.device)
        if self.outcome.survivors and error is None:
            warnings.warn(str(self.outcome), RuntimeWarning, stacklevel=2)


@dataclass
class _Stay:
    """A module that is loaded: by how many blocks, where, and where its tensors belong."""

    device: torch.device
    num_blocks: int
    homes: dict[str, torch.device]

    def home_of(self, name: str, tensor: torch.Tensor) -> torch.device:
        """Where a tensor belongs; one that the block made (the result of a call) beside the first of the module's."""
        home = self.homes.get(name)
        if home is None and is_on(tensor.device, self.device):
            home = next(iter(self.homes.values()), None)
        return tensor.device if home is None else home


@dataclass(frozen=True)
class _Left:
    """What a module left behind on the device, to be gone."""

    before: dict[str, Reading]
    storages: tuple[StorageRef, ...]
    started: float


_STAYS: weakref.WeakKeyDictionary[nn.Module, _Stay] = weakref.WeakKeyDictionary()


def is_loaded(module: nn.Module) -> bool:
    """Whether a block has the module loaded."""
    return module in _STAYS


def _enter(module: nn.Module, device: torch.device) -> None:
    stay = _STAYS.get(module)
    name = type(module).__name__
    if stay is None:
        homes = _load(module, device)
        _STAYS[module] = _Stay(_place_of(module, device), 1, homes)
    elif not is_on(stay.device, device):
        raise ReleaseError(f"{name} is loaded on {stay.device} by another block; end it before loading on {device}")
    else:
        stay.num_blocks += 1


def _place_of(module: nn.Module, device: torch.device) -> torch.device:
    """Where it lies that was loaded on a device, with a number where that has one: `cuda` is `cuda:0` then."""
    places = {slot.tensor.device for slot in slots_of(modules_below([module]).values())}
    return places.pop() if len(places) == 1 else device


def _load(module: nn.Module, device: torch.device) -> dict[str, torch.device]:
    """Move all there; where each tensor came from, by name. Where a copy fails, nothing was moved."""
    name = type(module).__name__
    if is_closed(module):
        raise ReleaseError(f"{name} was released ({is_closed(module)}) and has nothing to load")
    modules = list(modules_below([module]).values())
    slots = list(slots_of(modules))
    empty = [slot.name for slot in slots if slot.tensor.device.type == "meta"]
    if empty:
        raise ReleaseError(f"{name} has no values to load: {empty[0]} and {len(empty) - 1} more are on meta")
    homes: dict[str, torch.device] = {slot.name: slot.tensor.device for slot in slots}
    running = describe_calls([id(each) for each, _ in modules], by_others_alone=True)
    if running and any(not is_on(home, device) for home in homes.values()):
        raise ReleaseError(f"{name}: {running}, which needs it where it is. Load it before or after that")

    def there(name: str, tensor: torch.Tensor) -> torch.device:
        homes.setdefault(name, tensor.device)
        return device

    _move(modules, there)
    return homes


def _leave(module: nn.Module) -> _Left | None:
    """Take the module back where no other block has it; what it leaves behind, or None where it stays."""
    stay = _STAYS[module]
    stay.num_blocks -= 1
    if stay.num_blocks:
        return None
    del _STAYS[module]
    if is_closed(module):
        return None
    started, before = time.perf_counter(), read_device_bytes()
    modules = list(modules_below([module]).values())
    refs = StorageRefs()
    for slot in slots_of(modules):
        if slot.tensor.device == stay.home_of(slot.name, slot.tensor):
            continue
        refs.add(slot.tensor, f"`{slot.name}`")
        if is_leaf(slot.tensor) and slot.tensor.grad is not None:
            refs.add(slot.tensor.grad, f"the gradient of `{slot.name}`")
    _move(modules, stay.home_of)
    return _Left(before, tuple(refs), started)


def _move(modules: list[tuple[nn.Module, str]], device_of: DeviceOf) -> None:
    changes = Changes()
    moves = Moves(changes, device_of)
    with torch.inference_mode(False), torch.no_grad():  # the copies outlive the caller's mode
        moves.move_slots(slots_of(modules), gradients=True)
        for module, name in modules:
            moves.move_attributes(module, name)
        changes.make()
        pack_again(module for module, _ in modules)


def _verify(left: _Left, name: str, device: torch.device) -> Outcome:
    """What is gone from the device. Its cache is not given back: what is loaded next lies in it."""
    verification = None
    if any(storage.is_alive for storage in left.storages):
        collect_until_gone(left.storages)
        if any(storage.is_alive for storage in left.storages):
            verification = Verification()
    return Outcome(
        what=f"took {name} back from {device}",
        devices=compare(left.before, read_device_bytes(), left.storages),
        survivors=verification.survivors(left.storages) if verification else (),
        notes=verification.notes if verification else (),
        seconds=time.perf_counter() - left.started,
    )
