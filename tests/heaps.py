"""A small language to write censuses: one line per path, nodes shared by name or by common beginning.

    census("main.history -> list -> [0] tensor 4MiB", step=3)

A line is a root with the label of its first reference, then nodes, joined by `->`:

    main.history -> ...                        global of a module           lib:torch.x -> (inside a library)
    Trainer.fit(trainer.py:598).retval -> ...  local of a running function
    class Net(net.py:3).cache -> ...           class attribute
    hidden sys.last_exc.value -> ...           any other root
    unseen -> ... / island -> ...              held by something unseen / by nothing

A node is `[label] type[#name] [size] [words...]`. Labels: `[0]`, `['key']`, `.name` (through a `__dict__`), `..name`
(directly, as the interpreter keeps attributes until somebody asks for the `__dict__`),
`.grad_fn`, `.next`, `.saved`, `.grad`, `._base`, `<cell x>`, `<default x>`, `<self>`, `<member>`, `<cached>`,
`<hook>`. `[*9]` repeats the line for 0..8; `*` in names becomes the number. Sizes make a tensor's storage;
words: parameter buffer gradient state input activation (roles), freed frozen continues called inside unknown, unseen=1,
native=1, bound=9, length=9, view=8, storage=name (shared), pointer=4096, serial=3, version=2, at=addr, file=f.py:3,
cuda.
"""

from __future__ import annotations

import re
import zlib

import numpy as np

from tenure.model.heap import (
    BUFFERS_FREED,
    CALLED,
    CALLED_BY_ANY,
    FROZEN,
    GRAPH_CONTINUES,
    ITERATOR,
    NAMED_BY_LIBRARY,
    OWNER_UNKNOWN,
    Census,
    NodeKind,
    Nodes,
    ReferenceKind,
    References,
    Role,
    Storages,
)

_UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
_ROLES = {
    "parameter": Role.PARAMETER,
    "buffer": Role.BUFFER,
    "gradient": Role.GRADIENT,
    "state": Role.OPTIMIZER_STATE,
    "input": Role.INPUT,
    "activation": Role.ACTIVATION,
}
_FLAGS = {
    "called": CALLED,
    "inside": CALLED_BY_ANY,
    "freed": BUFFERS_FREED,
    "continues": GRAPH_CONTINUES,
    "unknown": OWNER_UNKNOWN,
    "iterator": ITERATOR,
    "frozen": FROZEN,
}
_GRAPH = {
    ".grad_fn": ReferenceKind.GRAD_FN,
    ".next": ReferenceKind.NEXT,
    ".saved": ReferenceKind.SAVED,
    ".grad": ReferenceKind.GRAD,
    "._base": ReferenceKind.BASE,
}
_ANGLED = {
    "cell": ReferenceKind.CELL,
    "default": ReferenceKind.DEFAULT,
    "self": ReferenceKind.SELF,
    "member": ReferenceKind.MEMBER,
    "cached": ReferenceKind.CACHED,
    "hook": ReferenceKind.HOOK,
    "other": ReferenceKind.OTHER,
    "local": ReferenceKind.LOCAL,
}


def census(text: str, *, step: int = 1, moment: str = "step-end") -> Census:
    """The census that `text` draws."""
    builder = _Builder()
    for line in text.strip().splitlines():
        if line.strip():
            for repeated in _repeat(line.strip()):
                builder.add_line(repeated)
    return builder.finish(step, moment)


def growing(text: str, steps: tuple[int, ...], *, moment: str = "step-end", **named: object) -> tuple[Census, ...]:
    """One census per step; `{step}`, and any name with a function of the step, are filled into `text`."""
    return tuple(
        census(
            text.format(
                step=step, **{name: value(step) if callable(value) else value for name, value in named.items()}
            ),
            step=step,
            moment=moment,
        )
        for step in steps
    )


def node_named(made: Census, name: str) -> int:
    """Number of the node whose address is that of `name`."""
    return int(np.flatnonzero(made.nodes.address == address_of(name))[0])


def address_of(name: str) -> int:
    """The address a node called `name` (or at the path `name`) gets in every census."""
    return 0x10000 + zlib.crc32(name.encode())


def _repeat(line: str) -> list[str]:
    found = re.search(r"\[\*(\d+)(?:\.\.(\d+))?\]", line)
    if not found:
        return [line]
    first, last = (0, int(found[1])) if found[2] is None else (int(found[1]), int(found[2]))
    return [
        repeated
        for number in range(first, last)
        for repeated in _repeat(line.replace(found[0], f"[{number}]", 1).replace("*", str(number)))
    ]


class _Builder:
    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self.nodes: list[dict[str, int]] = []
        self.names: dict[str, int] = {}
        self.references: dict[tuple[int, int, int, int], None] = {}
        self.storages: dict[int, dict[str, int]] = {}

    def add_line(self, line: str) -> None:
        parts = [part.strip() for part in line.split(" -> ")]
        source, label = self.add_root(parts[0])
        path = parts[0] if source >= 0 else ""
        for position, part in enumerate(parts[1:]):
            if position or source < 0:
                label, part = self.split_label(part) if position else ("", part)
            path += f" -> {label} {part.split('#')[0].split()[0]}"
            target = self.add_node(part, path, unseen=int(parts[0] == "unseen" and position == 0))
            if source >= 0:
                self.refer(source, target, label)
            source = target

    def add_root(self, text: str) -> tuple[int, str]:
        if text in ("unseen", "island"):
            return -1, ""
        flags = NAMED_BY_LIBRARY if text.startswith("lib:") else 0
        text = text.removeprefix("lib:")
        kind, type_name = NodeKind.NAMESPACE, "module"
        if text.startswith("class "):
            kind, type_name, text = NodeKind.CLASS, "type", text[6:]
        elif text.startswith("hidden "):
            kind, type_name, text = NodeKind.HIDDEN, "", text[7:]
        owner, _, label = text.rpartition(".")
        file, line = "", 0
        if "(" in owner:
            kind = NodeKind.FRAME if kind == NodeKind.NAMESPACE else kind
            type_name = "frame" if kind == NodeKind.FRAME else type_name
            owner, _, place = owner.rstrip(")").partition("(")
            file, _, number = place.partition(":")
            line = int(number or 0)
        elif kind == NodeKind.NAMESPACE:
            file = f"/home/user/{owner}.py"
        key = f"{kind} {owner}"
        if key not in self.names:
            self.names[key] = self.new_node(kind, type_name, key, name=owner, file=file, line=line, flags=flags)
        return self.names[key], {NodeKind.FRAME: f"<local {label}>", NodeKind.CLASS: f".{label}"}.get(
            kind, f"<global {label}>" if kind == NodeKind.NAMESPACE else f"<other {label}>"
        )

    def split_label(self, part: str) -> tuple[str, str]:
        if part.startswith("<"):
            end = part.index(">") + 1
        elif part.startswith("["):
            end = part.index("]") + 1
        else:
            end = part.index(" ")
        return part[:end], part[end:].strip()

    def add_node(self, part: str, path: str, *, unseen: int) -> int:
        head, *words = part.split()
        type_name, _, name = head.partition("#")
        key = name or path
        if key not in self.names:
            kind = NodeKind.OBJECT
            if type_name in ("tensor", "parameter"):
                kind = NodeKind.TENSOR
                words += ["parameter"] * (type_name == "parameter")
                type_name = {"tensor": "torch.Tensor", "parameter": "torch.nn.parameter.Parameter"}[type_name]
            elif re.search(r"(Backward\d*|AccumulateGrad)$", type_name):
                kind = NodeKind.AUTOGRAD
            self.names[key] = self.new_node(kind, type_name, key, **self.columns(words))
            self.nodes[self.names[key]]["unseen"] += unseen
        self.add_storage(self.names[key], key, words)
        return self.names[key]

    def columns(self, words: list[str]) -> dict[str, int | str]:
        found: dict[str, int | str] = {"flags": sum(_FLAGS.get(word, 0) for word in words)}
        for word in words:
            name, _, value = word.partition("=")
            if name in ("unseen", "native", "bound", "length", "called_in"):
                found[name] = int(value)
            elif name == "file":
                found["file"], _, line = value.partition(":")
                found["line"] = int(line or 0)
                found.setdefault("name", "function")
            elif name == "name":
                found["name"] = value
            elif name == "at":
                found["address"] = address_of(value)
        return found

    def add_storage(self, tensor: int, key: str, words: list[str]) -> None:
        options = dict(word.split("=", 1) for word in words if "=" in word)
        size = next((found for word in words if (found := re.fullmatch(r"([\d.]+)([KMG]i?B|B)", word))), None)
        if size is None and "storage" not in options:
            return
        name = "storage of " + options.get("storage", options.get("at", key))
        if name not in self.names:
            assert size is not None
            num_bytes = int(float(size[1]) * _UNITS[size[2]])
            node = self.names[name] = self.new_node(NodeKind.STORAGE, "torch.UntypedStorage", name)
            role = next((role for word, role in _ROLES.items() if word in words), Role.OTHER)
            self.storages[node] = {
                "bytes": num_bytes,
                "view_bytes": int(options.get("view", num_bytes)),
                "num_views": 0,
                "role": int(role),
                "device": self.text("cuda:0" if "cuda" in words else "cpu"),
                "dtype": self.text("float32"),
                "shape": self.text(
                    "[]" if num_bytes <= 8 or options.get("view") in ("4", "8") else f"[{num_bytes // 4}]"
                ),
                "pointer": int(options.get("pointer", "0"), 0),
                "serial": int(options.get("serial", "0")),
                "version": int(options.get("version", "0")),
            }
        self.storages[self.names[name]]["num_views"] += 1
        self.connect(tensor, self.names[name], ReferenceKind.STORAGE, "")

    def refer(self, source: int, target: int, label: str) -> None:
        if label in _GRAPH:
            self.connect(
                source, target, _GRAPH[label], "self" if label == ".saved" else "0" if label == ".next" else ""
            )
        elif label.startswith("."):
            self.attribute(source, target, label[1:])
        elif label.startswith("<"):
            word, _, name = label[1:-1].partition(" ")
            kind = ReferenceKind.GLOBAL if word == "global" else _ANGLED[word]
            if kind == ReferenceKind.CELL:
                cell = self.helper(source, f"cell {name}", "cell")
                self.connect(source, cell, kind, name)
                self.connect(cell, target, ReferenceKind.CONTENTS, "")
            else:
                self.connect(source, target, kind, name)
        else:
            type_name = list(self.strings)[self.nodes[source]["type"]]
            is_dict = "ict" in type_name
            self.connect(source, target, ReferenceKind.ITEM if is_dict else ReferenceKind.INDEX, label[1:-1])
            if self.nodes[source]["length"] < 0 or "counted" in self.nodes[source]:
                self.nodes[source]["counted"] = 1
                self.nodes[source]["length"] = max(self.nodes[source]["length"], 0) + 1

    def attribute(self, source: int, target: int, name: str) -> None:
        if self.nodes[source]["kind"] == NodeKind.AUTOGRAD or name.startswith("."):
            self.connect(source, target, ReferenceKind.ATTRIBUTE, name.removeprefix("."))
            return
        table = self.helper(source, "__dict__", "dict")
        self.connect(source, table, ReferenceKind.DICT, "__dict__")
        self.connect(table, target, ReferenceKind.ITEM, repr(name))

    def helper(self, owner: int, what: str, type_name: str) -> int:
        key = f"{what} of {next(name for name, node in self.names.items() if node == owner)}"
        if key not in self.names:
            self.names[key] = self.new_node(NodeKind.OBJECT, type_name, key)
        return self.names[key]

    def connect(self, source: int, target: int, kind: ReferenceKind, label: str) -> None:
        self.references.setdefault((source, target, int(kind), self.text(label)))

    def new_node(self, kind: NodeKind, type_name: str, key: str, **columns: int | str) -> int:
        row: dict[str, int] = {"kind": int(kind), "type": self.text(type_name), "name": -1, "file": -1, "line": 0}
        row |= {"address": address_of(key), "unseen": 0, "native": 0, "length": -1, "bound": -1, "flags": 0}
        row |= {"called_in": 0}
        row |= {name: self.text(value) if isinstance(value, str) else value for name, value in columns.items()}
        self.nodes.append(row)
        return len(self.nodes) - 1

    def text(self, value: str) -> int:
        return self.strings.setdefault(value, len(self.strings)) if value else -1

    def finish(self, step: int, moment: str) -> Census:
        def columns(rows: list[dict[str, int]], names: tuple[str, ...]) -> dict[str, np.ndarray]:
            return {name: np.array([row[name] for row in rows], dtype=np.int64) for name in names}

        storages = [{"node": node, **row} for node, row in self.storages.items()]
        references = [
            dict(zip(References.__dataclass_fields__, reference, strict=True)) for reference in self.references
        ]
        return Census(
            step=step,
            moment=moment,
            seconds=0.0,
            num_objects=len(self.nodes),
            strings=tuple(self.strings),
            nodes=Nodes(**columns(self.nodes, tuple(Nodes.__dataclass_fields__))),
            references=References(**columns(references, tuple(References.__dataclass_fields__))),
            storages=Storages(**columns(storages, tuple(Storages.__dataclass_fields__))),
        )
