"""Reads a census as a person would: who refers to what, by which name."""

from __future__ import annotations

from collections import deque

from tenure.capture.heap.autograd import identity_of, is_autograd_type
from tenure.model.heap import Census, NodeKind, ReferenceKind, Role


class Reading:
    """Look-ups on one census."""

    def __init__(self, census: Census) -> None:
        self.census = census
        refs = census.references
        self.references = [
            (int(s), int(t), ReferenceKind(int(k)), census.text(int(lab)))
            for s, t, k, lab in zip(refs.source, refs.target, refs.kind, refs.label, strict=True)
        ]
        self.out: dict[int, list[tuple[ReferenceKind, str, int]]] = {}
        self.into: dict[int, list[tuple[ReferenceKind, str, int]]] = {}
        for s, t, k, lab in self.references:
            self.out.setdefault(s, []).append((k, lab, t))
            self.into.setdefault(t, []).append((k, lab, s))

    def kind(self, node: int) -> NodeKind:
        return NodeKind(int(self.census.nodes.kind[node]))

    def type(self, node: int) -> str:
        return self.census.text(int(self.census.nodes.type[node]))

    def name(self, node: int) -> str:
        return self.census.text(int(self.census.nodes.name[node]))

    def node_of(self, item: object) -> int:
        """The node of a live object (-1: not in the census)."""
        wanted = identity_of(item) if is_autograd_type(type(item)) else id(item)
        found = [
            n
            for n, address in enumerate(self.census.nodes.address.tolist())
            if address == wanted and self.kind(n) not in (NodeKind.FRAME, NodeKind.STORAGE)
        ]
        assert len(found) <= 1
        return found[0] if found else -1

    def storages_below(self, node: int) -> dict[int, tuple[int, Role]]:
        """Bytes and role of every storage reachable from `node`, by storage node."""
        rows = {int(n): row for row, n in enumerate(self.census.storages.node)}
        seen, queue = {node}, deque([node])
        while queue:
            for _, _, target in self.out.get(queue.popleft(), ()):
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
        storages = self.census.storages
        return {n: (int(storages.bytes[rows[n]]), Role(int(storages.role[rows[n]]))) for n in seen if n in rows}

    def bytes_below(self, node: int) -> int:
        return sum(num_bytes for num_bytes, _ in self.storages_below(node).values())

    def holders_of(self, num_bytes: int) -> list[int]:
        """The nodes below which lie just these bytes, all in one storage."""
        storages = self.census.storages
        waiting = [int(n) for n, size in zip(storages.node, storages.bytes, strict=True) if int(size) == num_bytes]
        above = set(waiting)
        while waiting:
            new = {source for _, _, source in self.into.get(waiting.pop(), ())} - above
            above |= new
            waiting += new
        return sorted(node for node in above if self.bytes_below(node) == num_bytes)

    def path(self, *steps: tuple[ReferenceKind, str] | ReferenceKind, start: int) -> int:
        """The node that a sequence of references leads to from `start`; fails with what is there instead."""
        for step in steps:
            kind, label = step if isinstance(step, tuple) else (step, None)
            found = [t for k, lab, t in self.out.get(start, ()) if k is kind and label in (None, lab)]
            assert found, f"{self.type(start)} has {self.out.get(start)}, not {step}"
            start = found[0]
        return start

    def frame(self, name: str) -> int:
        found = [
            n
            for n in range(len(self.census.nodes.kind))
            if self.kind(n) is NodeKind.FRAME and self.name(n).endswith(name)
        ]
        assert found, f"no frame {name}"
        return found[0]
