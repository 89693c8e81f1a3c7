"""Profiles of two steps in a few lines: one storage each, with a census that knows the same addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tenure.model.profile import Operations, ProfiledStorages, Sites, StepProfile, Uses

MIB = 1 << 20
STRINGS = ("aten.mm.default", "/p/train.py", "step", "cpu", "float32", "[8]")


def profile(
    *storages: tuple[int, int, int, int, int],
    operations: int = 10,
    second: int = 5,
    census_op: int = 7,
    phases: Sequence[int] | None = None,
    uses: Sequence[tuple[int, int]] = (),
    named: Mapping[int, str] | None = None,
) -> StepProfile:
    """Storages are (address, MiB, birth, last use, death); all operations but those `named` are alike, line 10 + number
    in the step. Uses are (operation, row of the storage)."""
    columns = np.array(storages, dtype=np.int64).reshape(-1, 5)
    numbers = np.arange(operations)
    constant = np.zeros(len(columns), dtype=np.int64)
    names = {} if named is None else dict(named)
    pairs = np.array(uses, dtype=np.int64).reshape(-1, 2)
    return StepProfile(
        step=6,
        second=second,
        census_op=census_op,
        seconds=0.25,
        strings=(*STRINGS, *names.values()),
        operations=Operations(
            name=np.array([len(STRINGS) + list(names).index(n) if n in names else 0 for n in range(operations)]),
            site=numbers % second,
            phase=np.array(phases if phases is not None else [1] * operations, dtype=np.int64),
        ),
        sites=Sites(
            file=np.ones(second, dtype=np.int64),
            line=10 + np.arange(second),
            function=np.full(second, 2),
        ),
        storages=ProfiledStorages(
            address=columns[:, 0],
            bytes=columns[:, 1] * MIB,
            device=constant + 3,
            dtype=constant + 4,
            shape=constant + 5,
            birth=columns[:, 2],
            last_use=columns[:, 3],
            death=columns[:, 4],
        ),
        uses=Uses(pairs[:, 0], pairs[:, 1]),
    )
