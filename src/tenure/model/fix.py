"""What `tenure fix` tried and proved: figures of runs before and after, and what became of each edit."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.model.finding import Edit, Finding


@dataclass(frozen=True)
class Figures:
    """What one run was measured at. None: not measured.

    `peak_bytes` is what a device's allocator, or the profile of two steps of a CPU program, says of tensor memory.
    `growth_bytes_per_step` is of all live tensors at the steps' ends, whoever holds them.
    `alive_bytes` and `num_alive` are of all tensors at the last step that has a census in every run that is compared.
    `largest_batch` is the largest that was seen to fit, 0 where none was, and `largest_batch_most` what it is at most,
    where that is not within a sixteenth. `samples_per_second` are those with it, or with the program's own batch where
    none was searched.
    """

    findings: tuple[Finding, ...]
    steps: int
    peak_bytes: int | None = None
    growth_bytes_per_step: float | None = None
    alive_bytes: int | None = None
    num_alive: int | None = None
    step_seconds: float | None = None
    largest_batch: int | None = None
    largest_batch_most: int | None = None
    samples_per_second: float | None = None


@dataclass(frozen=True)
class TriedEdit:
    """The edits of one remedy, whether they stay, and why.

    `told_by` is "recording", "lint", or "trial" for one that nothing but its run speaks for.
    """

    rule: str
    name: str
    file: str
    line: int
    told_by: str
    edits: tuple[Edit, ...]
    kept: bool
    why: str
    differences: tuple[str, ...] = ()
    """The first few words and values in which its run differs from an unchanged one: name, before, after."""


@dataclass(frozen=True)
class Fix:
    """The result. `verified`: the kept edits together freed what they should, and changed nothing that was compared.

    `parameters_equal` and `outputs_equal` are None where there is nothing to compare, or where two unchanged runs
    already differ. `deterministic` is False then, and None where no edit was offered, so that there was one run only.
    `patch` is empty where no edit stays. `compared` and `not_compared` say in words of what `verified` speaks.
    """

    program: str
    verified: bool
    patch: str
    before: Figures
    after: Figures | None
    parameters_equal: bool | None
    outputs_equal: bool | None
    deterministic: bool | None
    edits: tuple[TriedEdit, ...]
    num_runs: int
    notes: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()
