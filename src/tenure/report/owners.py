"""Who holds blocks, by the names that lead to them, in a snapshot that a recording lies beside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import takewhile

from tenure.model.live_block import OwnedBlock
from tenure.model.units import format_bytes
from tenure.report.block_words import blocks_text

_MOST_HOLDERS = 5


def holder_rows(owners: Iterable[OwnedBlock]) -> Iterator[tuple[str, str]]:
    """The roots that most of what is in use at the end hangs on."""
    for number, (root, blocks) in enumerate(_by_root(owners)[:_MOST_HOLDERS]):
        size = format_bytes(sum(each.num_bytes for each in blocks))
        yield "held by" if number == 0 else "", f"{size} in {blocks_text(len(blocks))}: {root}"


def holders_as_dicts(owners: Iterable[OwnedBlock]) -> list[dict[str, object]]:
    """All of them for `--json`, heaviest first."""
    return [
        {"holder": root, "bytes": sum(each.num_bytes for each in blocks), "blocks": len(blocks)}
        for root, blocks in _by_root(owners)
    ]


def holders_text(owners: Iterable[OwnedBlock | None]) -> str:
    """Of some blocks: what the paths to most of them have in common; "" where no name is known."""
    found = _by_root(each for each in owners if each is not None and each.path)
    if not found:
        return ""
    _, blocks = max(found, key=lambda item: len(item[1]))
    parts = zip(*(each.path for each in blocks), strict=False)
    return " -> ".join(part[0] for part in takewhile(lambda part: len(set(part)) == 1, parts))


def _by_root(owners: Iterable[OwnedBlock]) -> list[tuple[str, list[OwnedBlock]]]:
    found: defaultdict[str, list[OwnedBlock]] = defaultdict(list)
    for each in owners:
        found[_root(each)].append(each)
    return sorted(found.items(), key=lambda item: -sum(each.num_bytes for each in item[1]))


def _root(owned: OwnedBlock) -> str:
    if owned.path:
        return owned.path[0]
    return "no name of Python; only the stack is known" if owned.owner == "stack" else "native owner"
