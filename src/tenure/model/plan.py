"""What a program would need on a device: the answer of `tenure plan`, each figure with its basis."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

MOST = 1 << 40
"""Larger sizes of an input are not looked for."""
TOLERANCE = 0.02
"""By so much of what a size adds to the bytes in use they may differ from what smaller sizes predict."""
FAR = 8
"""So many times the largest size that ran is far: what holds there is widened by `TOLERANCE`."""


class Use(str, Enum):
    """What memory is for in a planned step."""

    PARAMETER = "parameter"
    BUFFER = "buffer"
    GRADIENT = "gradient"
    OPTIMIZER_STATE = "optimizer state"
    ACTIVATION = "activation"
    """Kept by a graph from forward to backward, and made in forward."""
    INPUT = "input"
    """Made outside of forward and used in it: the batch."""
    OUTPUT = "output"
    """Made in forward, and alive in backward though no graph keeps it: losses, what variables hold."""
    TEMPORARY = "temporary"
    """Made and freed on the way."""
    OTHER = "other"
    """There before the steps, and nobody's."""


class Part(str, Enum):
    """A part of a step."""

    BETWEEN = "between steps"
    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer's step"


@dataclass(frozen=True)
class Moment:
    """An operation of a step, the module in whose forward it runs, and the line of the program; "" where not known."""

    step: int
    part: Part
    operation: str
    module: str
    file: str
    line: int
    function: str


@dataclass(frozen=True)
class IdleAtPeak:
    """Storages of one use that one line made, alive at the peak and not used again."""

    use: Use
    bytes: int
    num_storages: int
    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Constant:
    """Memory of a device that a run without it does not show. None: not known, and not counted."""

    name: str
    least_bytes: int | None
    most_bytes: int | None
    source: str


@dataclass(frozen=True)
class Fit:
    """Whether `device_bytes` are enough for what is reserved and the constants that are known.

    `room_bytes` are left, or missing where negative. `num_retries`: so many times torch would have to give cached
    segments back.
    """

    device_bytes: int
    fits: bool
    room_bytes: int
    num_retries: int


@dataclass(frozen=True)
class LargestSize:
    """The largest batch, or the longest input, lies between `least` and `most` of the program's `option`; 0: none fits.

    It follows from runs with `sizes`; for the size `checked` they predict a peak of `predicted_bytes` in use, and it
    was `found_bytes`. `confirmed` is a larger size that ran because the answer lies far from the others, of which both
    figures are then, `why_not` why none did; where the answer is still `FAR` from what ran, it `is_widened`. Sizes of
    `MOST` and above are not searched.
    """

    option: str
    least: int
    most: int
    sizes: tuple[int, ...]
    checked: int
    predicted_bytes: int
    found_bytes: int
    confirmed: int | None = None
    why_not: str | None = None
    is_widened: bool = False


@dataclass(frozen=True)
class LargestAtLength:
    """With inputs of this length the largest batch lies between `least` and `most`; 0: none fits.

    `tokens` is the least `least` x `length` of this length and the shorter ones: so many may be in a batch of any of
    them. `is_widened`: batch or length are `FAR` from those that ran.
    """

    length: int
    least: int
    most: int
    tokens: int
    is_widened: bool = False


@dataclass(frozen=True)
class TokenBudget:
    """The largest batch for each of some lengths, by the program's two options.

    It follows from runs with all of `batches` and `lengths` together; for the batch and length `checked` they predict a
    peak of `predicted_bytes` in use, and it was `found_bytes`.
    """

    batch_option: str
    length_option: str
    batches: tuple[int, ...]
    lengths: tuple[int, ...]
    checked: tuple[int, int]
    predicted_bytes: int
    found_bytes: int
    rows: tuple[LargestAtLength, ...]


@dataclass(frozen=True)
class TriedOption:
    """What the same two steps need with `options` in force, several of them together.

    `change` are the lines that do the same in the program. Where `why_not` says why nothing is known, figures are None.
    `compute` is the steps' floating point operations against those of the program as it is, and None where it has none;
    `num_operations` counts operations of every kind. `signs` tell what showed that each option was in force.
    """

    options: tuple[str, ...]
    change: tuple[str, ...] = ()
    why_not: str | None = None
    peak_active_bytes: int | None = None
    peak_reserved_bytes: int | None = None
    part: Part | None = None
    compute: float | None = None
    num_operations: int | None = None
    fits: bool | None = None
    signs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What two steps of a program need.

    Bytes are of blocks as the caching allocator rounds them; `saved_bytes` alone are exact: what graphs kept at the end
    of the forward of the second step, beside parameters, buffers, gradients and states. `peaks` are of the parts of
    both steps, `host_bytes` of what never met the model's tensors and is taken to stay on the host. `settings` are the
    allocator's, "" the defaults. `unanswered` says why a size that was asked for was not found. `world_size`: of so
    many ranks the first was planned in one process; None where the program ran as it is. `options` are None where none
    were asked for.
    """

    steps: tuple[int, int]
    recorded_on: str
    settings: str
    peak_active_bytes: int
    peak_reserved_bytes: int
    moment: Moment
    by_use: dict[Use, int]
    by_module: dict[str, int]
    peaks: dict[Part, int]
    saved_bytes: int | None
    idle: tuple[IdleAtPeak, ...]
    host_bytes: int
    constants: tuple[Constant, ...]
    fit: Fit | None
    notes: tuple[str, ...]
    largest_batch: LargestSize | None = None
    longest: LargestSize | None = None
    token_budget: TokenBudget | None = None
    num_operations: int = 0
    world_size: int | None = None
    options: tuple[TriedOption, ...] | None = None
    unanswered: str | None = None
