"""Has tensors move to the device of a program where there is none: `to(device)` copies, `device=` is remembered.

Without a device the program's variable says `cpu`, and torch gives the same tensor back; on a device there are two, the
batch of the host and its copy. Requests for CUDA that the program makes without asking whether it is there are met in
the same way. A device that is written as "cpu" in the line itself is the host.
"""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils._device import DeviceContext, _device_constructors

from tenure.capture.profile.places import PLACES, has_place
from tenure.capture.profile.run_notes import note_of_run
from tenure.capture.profile.stand_ins import stand_in

ON_HOST = "the program asks for CUDA itself: what it asks for was made on the host, and is counted on the device"
_LIKE = ("empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like")
_NEW = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")
_CALL_CODE = torch.nn.Module._call_impl.__code__
_TORCH = str(Path(torch.__file__).parent) + os.sep
_HOST_LITERAL = re.compile(r"""["']cpu["']""")
_CHOICE = re.compile("cuda")


def move_as_on_cuda() -> None:
    """For the rest of this process; not where there is a device, whose tensors tell it themselves."""
    if torch.cuda.device_count():
        return
    constructors = {getattr(function, "__name__", "") for function in _device_constructors()}  # torch keeps the list
    for owner, names in ((torch, (*sorted(constructors), *_LIKE)), (torch.Tensor, _NEW)):
        for name in names:
            if callable(made := getattr(owner, name, None)):
                stand_in(owner, name, _making(made))
    original = torch.Tensor.to
    torch.Tensor.to = _moving(original)
    torch.Tensor.cuda = lambda self, device=None, non_blocking=False, **named: torch.Tensor.to(self, "cuda", **named)
    torch.Tensor.cpu = _returning(torch.Tensor.cpu, original)
    torch.Tensor.pin_memory = lambda self, device=None: self
    DeviceContext.__init__ = _on_host(DeviceContext.__init__)


def _making(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes a tensor on the `device` that it is given."""

    @functools.wraps(function)
    def make(*args: Any, **named: Any) -> Any:
        if named.get("pin_memory"):
            named = {**named, "pin_memory": False}
        device = named.get("device")
        if device is None or not _is_device(device):
            return function(*args, **named)
        made = function(*args, **{**named, "device": "cpu"})
        PLACES.put(made, True)
        _note_said()
        return made

    return make


def _moving(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def to(self: Any, *args: Any, **named: Any) -> Any:
        asked = named["device"] if "device" in named else args[0] if args else named.get("other")
        if isinstance(asked, torch.Tensor):
            if not (has_place(self) and has_place(asked) and PLACES.is_on_device(asked)):
                return original(self, *args, **named)
        elif isinstance(asked, (str, torch.device)) or type(asked) is int:
            if not _is_device(asked):
                is_back = torch.device(asked).type == "cpu" and has_place(self) and PLACES.is_on_device(self)
                return _copied(original, self, args, named, False) if is_back else original(self, *args, **named)
            args, named = _with_host(args, named)
        else:
            return original(self, *args, **named)
        if not has_place(self) or PLACES.is_on_device(self):
            made = original(self, *args, **named)
            PLACES.put(made, True)
            return made
        PLACES.put(self, False)
        _note_said()
        return _copied(original, self, args, named, True)

    return to


def _returning(original: Callable[..., Any], to: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def cpu(self: Any, *args: Any, **named: Any) -> Any:
        if isinstance(self, torch.nn.Parameter) or not (has_place(self) and PLACES.is_on_device(self)):
            return original(self, *args, **named)
        return _copied(to, self, ("cpu",), named, False)

    return cpu


def _copied(to: Callable[..., Any], tensor: Any, args: Any, named: Any, on_device: bool) -> Any:
    if len(args) > 3:  # whether to copy stands among them
        args = args[:3]
    made = to(tensor, *args, **{**named, "copy": True})
    PLACES.put(made, on_device)
    return made


def _with_host(args: Any, named: Any) -> tuple[Any, Any]:
    return (args, {**named, "device": "cpu"}) if "device" in named else (("cpu", *args[1:]), named)


def _is_device(asked: Any) -> bool:
    """Whether the program's device is meant; a note where it says CUDA."""
    if type(asked) is int or torch.device(asked).type == "cuda":
        note_of_run(ON_HOST)
        return True
    return torch.device(asked).type == "cpu" and not _is_written_as_host()


def _is_written_as_host() -> bool:
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame is not None and _says_host(frame.f_code.co_filename, frame.f_lineno)


@functools.lru_cache(maxsize=4096)
def _says_host(file: str, line: int) -> bool:
    text = linecache.getline(file, line)
    return _HOST_LITERAL.search(text) is not None and _CHOICE.search(text) is None


def _note_said() -> None:
    """Where the program itself says where a tensor is to lie: not within a model's call, and not torch for it."""
    if PLACES.says_where:
        return
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(_TORCH):
        return
    while frame is not None and frame.f_code is not _CALL_CODE:
        frame = frame.f_back
    PLACES.says_where = frame is None


def _on_host(init: Callable[..., None]) -> Callable[..., None]:
    """Of `torch.set_default_device` and `with torch.device(...)`."""

    @functools.wraps(init)
    def make(self: Any, device: Any) -> None:
        init(self, device)
        if self.device.type == "cuda":
            note_of_run(ON_HOST)
            self.device = torch.device("cpu")

    return make
