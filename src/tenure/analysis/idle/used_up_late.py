"""What waits at the peak to be used up: alive there, and used only later, by operations that might have run before.

A reference's logits that wait through the policy's forward, of which the loss takes one number per token, are the
documented case: taken at once, the numbers would be all that waits.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from heapq import heappop, heappush

from tenure.model.heap import Ints
from tenure.model.profile import Phase, StepProfile

MOST_OPERATIONS = 16
"""More operations make no number of a tensor: they are a computation of its own."""
_SMALL = 1 / 8
"""Of what waits: what is no larger may wait in its place."""
_IN_PLACE = re.compile(r"\w+\.(\w+_(\.|$)|\w+\.(\w+_)?out$)")
_LISTS = re.compile(r"\w+\._foreach_")
_VIEWS = frozenset(
    {"detach", "alias", "view", "slice", "select", "unsqueeze", "squeeze", "expand", "permute", "transpose", "t"}
    | {"as_strided", "split", "unbind", "diagonal", "_unsafe_view"}
)
_OWN_WORK = (Phase.BACKWARD, Phase.OPTIMIZER)


@dataclass(frozen=True)
class Waiting:
    """What a storage waits for: its uses begin with operation `first_use` and might follow `ready`, the last operation
    before the peak that they need. On their way they make `made_bytes` at most."""

    ready: int
    first_use: int
    made_bytes: int


class UsesAfterPeak:
    """The second step's uses of storages. `lasting` are those of parameters, buffers and optimizers' state, which no
    reduction reads."""

    def __init__(self, profile: StepProfile, lasting: Collection[int]) -> None:
        self._profile, self._lasting = profile, lasting
        self._inputs = profile.inputs()
        self._uses: dict[int, list[int]] = {}
        self._changes: dict[int, list[int]] = {}
        for operation, rows in self._inputs.items():
            for row in rows:
                self._uses.setdefault(row, []).append(operation)
            for row in self._changed_by(operation):
                self._changes.setdefault(row, []).append(operation)
        self._made: dict[int, list[int]] = {}
        for row, birth in enumerate(profile.storages.birth.tolist()):
            self._made.setdefault(birth, []).append(row)

    def is_changed(self, row: int) -> bool:
        """Whether an operation of the second step changes a storage in place."""
        return row in self._changes

    def is_drawn(self, row: int) -> bool:
        """Whether the second step made a storage outside of modules, of nothing that these or autograd made and without
        a weight, as it makes a batch that it draws or decodes."""
        births, phases = self._profile.storages.birth, self._profile.operations.phase
        if not self._uses or births[row] < self._profile.second:
            return False
        waiting, known = [row], {row}
        while waiting:
            each = waiting.pop()
            birth = int(births[each])
            if each in self._lasting or (birth >= 0 and int(phases[birth]) != Phase.OTHER):
                return False
            for operation in (birth, *self._changes.get(each, ())):
                further = set(self._inputs.get(operation, ())) - known
                known |= further
                waiting += further
        return True

    def find_waiting(self, row: int, *, peak: int) -> Waiting | None:
        """What a storage waits for at the operation `peak`; None where it is not used after it, or by what must come
        later, where what is made of it is as large, or where the statement that uses it has begun on others since it
        was made, as a loop over all of them has."""
        size = int(self._profile.storages.bytes[row])
        uses = self._uses.get(row, [])
        to_come = sorted({use for use in uses if use > peak})
        made_at = max(int(self._profile.storages.birth[row]), self._profile.second)
        if not to_come or self._has_begun(to_come[0], range(made_at, peak + 1), besides=uses):
            return None
        ready = max((use for use in uses if use <= peak and not self._only_views(use)), default=made_at)
        chain, first_use, number = {row}, to_come[0], 0
        handed_on: set[int] = set()
        while to_come:
            operation = heappop(to_come)
            number += 1
            needs = self._needs(operation, [other for other in self._inputs[operation] if other not in chain], peak)
            if needs is None or number > MOST_OPERATIONS or not self._is_plain(operation, chain, size):
                return None
            ready = max(ready, needs)
            members = chain.intersection(self._inputs[operation])
            handed_on = handed_on | members if self._only_views(operation) else handed_on - members
            large = [made for made in self._made.get(operation, ()) if self._bytes[made] > _SMALL * size]
            if not all(made in self._uses for made in large):
                return None
            chain.update(large)
            for use in sorted({use for made in large for use in self._uses[made]} - set(to_come)):
                heappush(to_come, use)
        if handed_on:
            return None
        return Waiting(ready, first_use, sum(int(self._bytes[made]) for made in chain - {row}))

    def _has_begun(self, operation: int, within: range, *, besides: Collection[int]) -> bool:
        """Whether the statement of an operation ran others within a stretch, more than views."""
        sites = self._profile.operations.site
        same = within.start + (sites[within.start : within.stop] == sites[operation]).nonzero()[0]
        return any(other not in besides and not self._only_views(other) for other in same.tolist())

    def _only_views(self, operation: int) -> bool:
        """Whether an operation gives another view of what it is given, as `return output.detach()` does: where nothing
        uses that, somebody has it."""
        return self._profile.kernel_of(operation) in _VIEWS and operation not in self._made

    def _is_plain(self, operation: int, chain: Collection[int], size: int) -> bool:
        """Whether an operation is neither autograd's nor an optimizer's, and changes nothing large."""
        if Phase(int(self._profile.operations.phase[operation])) in _OWN_WORK:
            return False
        changed = self._changed_by(operation)
        return all(other in chain or self._bytes[other] <= _SMALL * size for other in changed)

    def _needs(self, operation: int, others: list[int], peak: int) -> int | None:
        """The last operation that made or changed what an operation is given besides; None where it is after the
        peak, or where that is a model's."""
        latest = self._profile.second
        for other in others:
            if other in self._lasting:
                return None
            changes = (change for change in self._changes.get(other, ()) if change < operation)
            latest = max(latest, int(self._profile.storages.birth[other]), *changes)
        return latest if latest <= peak else None

    def _changed_by(self, operation: int) -> list[int]:
        name = self._profile.text(int(self._profile.operations.name[operation]))
        if not _IN_PLACE.match(name):
            return []
        inputs = self._inputs.get(operation, [])
        if _LISTS.match(name):
            return inputs
        return inputs[-1:] if name.endswith("out") else inputs[:1]

    @property
    def _bytes(self) -> Ints:
        return self._profile.storages.bytes
