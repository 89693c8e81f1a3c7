"""What programs are told that ask fake tensors for values: stand-ins, and at which lines.

Training code asks for a loss to print it, whether all gradients are finite, how many tokens were right. Numbers are 1,
positions 0, and tests come out as they do where nothing is wrong: `any` is False, `all` is True. Of what is computed
from such a number, the number is computed too, so that `isfinite(loss)` is True.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tenure.capture.faking.program_lines import line_now

Number = bool | int | float | complex
_VALUE = "_tenure_value"
_MOST_LINES = 6
_READS = "aten._local_scalar_dense.default"
_COMPARES = ("aten.equal.default", "aten.allclose.default")
_OF_TESTS: dict[str, Number] = {"aten.all": True, "aten.argmax": 0, "aten.argmin": 0}


class Values:
    """The stand-ins of one process."""

    def __init__(self) -> None:
        self.lines: dict[str, None] = {}

    def answer(self, function: Any, args: Sequence[Any]) -> Number | None:
        """What an operation gives that asks for a value; None where it is another."""
        name = str(function)
        if name == _READS:
            return self.read(args[0])
        if name in _COMPARES:
            self._note()
            return True
        return None

    def read(self, tensor: Any) -> Number:
        """The number that stands in a fake tensor of one element."""
        self._note()
        value: Number | None = getattr(tensor, _VALUE, None)
        return _number(tensor.dtype) if value is None else value

    def filled(self, tensor: Any) -> Any:
        """A NumPy array in place of a fake tensor's values; read-only, and without memory."""
        self._note()
        number = np.array(_number(tensor.dtype), dtype=_numpy_type(tensor.dtype))
        return np.broadcast_to(number, tuple(tensor.shape))

    def take_result(self, function: Any, args: Sequence[Any], result: Any) -> None:
        """Note the number that a result without dimensions has. About ten microseconds for such, else one."""
        if not isinstance(result, torch.Tensor) or result.dim() or not hasattr(result, "fake_mode"):
            return
        if getattr(getattr(function, "_schema", None), "is_mutable", True):
            vars(result).pop(_VALUE, None)
        else:
            setattr(result, _VALUE, _computed(function, args, result.dtype))

    def notes(self) -> tuple[str, ...]:
        """What the program was told, for its plan."""
        if not self.lines:
            return ()
        lines = list(self.lines)
        more = f" and {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else ""
        return (
            "fake tensors have no values: where the program reads some (a loss to print, a test) 1 stood for numbers, "
            f"False for `any` and True for `all`, at {', '.join(lines[:_MOST_LINES])}{more}",
        )

    def _note(self) -> None:
        self.lines.setdefault(line_now() or "lines of torch")


def _computed(function: Any, args: Sequence[Any], dtype: torch.dtype) -> Number:
    known = [_as_number(arg) for arg in args]
    if known and not any(arg is None for arg in known):
        try:
            return function(*known).to(dtype).item()  # type: ignore[no-any-return]
        except (RuntimeError, TypeError, ValueError, AttributeError):
            pass
    return next((each for name, each in _OF_TESTS.items() if str(function).startswith(name + ".")), _number(dtype))


def _as_number(arg: Any) -> Any:
    """An argument with the number in place of a tensor without dimensions; None where it has more, or none is known."""
    if isinstance(arg, torch.Tensor):
        value = getattr(arg, _VALUE, None)
        return torch.tensor(value, dtype=arg.dtype, device="cpu") if value is not None and not arg.dim() else None
    return arg if isinstance(arg, (bool, int, float)) else None


def _number(dtype: torch.dtype) -> Number:
    if dtype == torch.bool:
        return False
    if dtype.is_complex:
        return 1 + 0j
    return 1.0 if dtype.is_floating_point else 1


def _numpy_type(dtype: torch.dtype) -> Any:
    return torch.empty(0, dtype=dtype, device="cpu").numpy().dtype
