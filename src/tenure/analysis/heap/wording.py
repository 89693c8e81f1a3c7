"""Retention paths in words: as text, as Python-like expressions, as hops, and as shapes without indices."""

from __future__ import annotations

import keyword
import posixpath
import re
import sys
from collections.abc import Collection, Sequence

import numpy as np

from tenure.analysis.heap.graph import MODULE_TABLES, Bools, Graph, of_types, unquoted
from tenure.analysis.heap.loops import is_exit, is_iterator
from tenure.analysis.heap.paths import CONTEXTS
from tenure.model.heap import ROOT_KINDS, Census, NodeKind, ReferenceKind
from tenure.model.suspect import ONLY_C_CODE, Hop
from tenure.model.units import format_bytes

LARGE_CONTAINER = 16
"""From this length on, an element's key or index says nothing to a reader: it is written `[*]`."""

_VARIABLES = (ReferenceKind.LOCAL, ReferenceKind.GLOBAL, ReferenceKind.CELL, ReferenceKind.DEFAULT)
_LAST_ERROR = ("last_exc", "last_value", "last_traceback")
_CELL_OUTPUTS = ("Out", "_oh")
_CELL_OUTPUT = re.compile(r"_+|_i?\d+")
_CALLABLES = ("function", "method", "functools.partial")
_UNNAMED = " (unnamed)"
_FUNCTION_PARTS = ("__closure__", "__defaults__", "__kwdefaults__")


def render_path(graph: Graph, references: Sequence[int]) -> tuple[str, ...]:
    """One text per reference a reader cares about; `__dict__`, cells and storages are merged away.

    A path that starts at no root starts with what is known of its owner.
    """
    texts: list[str] = []
    if references and not _is_root(graph, _source(graph, references[0])):
        texts.append(owner_text(graph, _source(graph, references[0])))
    for position, reference in enumerate(references):
        text = _reference_text(graph, references, position)
        if text:
            texts.append(text)
        elif position == 0 and _is_told_by_itself(graph, _source(graph, reference)):
            texts.append(root_text(graph.census, _source(graph, reference)))
    return tuple(texts)


def render_targets(graph: Graph, references: Sequence[int]) -> tuple[str, ...]:
    """What each text of `render_path` leads to: `Tensor [32, 386] float32, 47.66 KiB`, `list of 24`, `MulBackward0`."""
    targets: list[str] = []
    if references and not _is_root(graph, _source(graph, references[0])):
        targets.append("")
    for position, reference in enumerate(references):
        if _reference_text(graph, references, position):
            targets.append(_target_text(graph, _target(graph, reference)))
        elif position == 0 and _is_told_by_itself(graph, _source(graph, reference)):
            targets.append("")
    return tuple(targets)


def _target_text(graph: Graph, node: int) -> str:
    kind, census = NodeKind(int(graph.census.nodes.kind[node])), graph.census
    length = int(census.nodes.length[node])
    if kind == NodeKind.TENSOR:
        stored = next((_target(graph, r) for r in graph.references_from(node) if _leads_to_storage(graph, r)), -1)
        return _short_type(graph, node) + (f" {_storage_text(graph, stored)}" if stored >= 0 else "")
    if kind == NodeKind.STORAGE:
        return _storage_text(graph, node)
    return _short_type(graph, node) + (f" of {length}" if length >= 0 else "")


def _leads_to_storage(graph: Graph, reference: int) -> bool:
    return _kind(graph, reference) == ReferenceKind.STORAGE


def _storage_text(graph: Graph, node: int) -> str:
    storages, row = graph.census.storages, graph.storage_row[node]
    shape, dtype = graph.census.text(int(storages.shape[row])), graph.census.text(int(storages.dtype[row]))
    return f"{shape} {dtype}, {format_bytes(int(storages.bytes[row]))}"


def expression(graph: Graph, references: Sequence[int], *, many: Collection[int] = ()) -> str:
    """Python-like text of a path: `trainer.history[*]['loss'].grad_fn`.

    Elements of the containers in `many` (node numbers) and of large ones read `[*]`.
    """
    text = ""
    for position, reference in enumerate(references):
        kind, label = _kind(graph, reference), graph.labels[reference]
        source = _source(graph, reference)
        if _is_inside_context(graph, reference):
            continue
        if kind in _VARIABLES or _is_context_variable(graph, reference):
            text = label
        elif source not in many and (attribute := attribute_name(graph, reference)):
            owner = _class_root(graph, references, position) if not text else -1
            text = f"{_name_or_type(graph, owner)}.{attribute}" if owner >= 0 else f"{text}.{attribute}".lstrip(".")
        elif kind in (ReferenceKind.ITEM, ReferenceKind.INDEX, ReferenceKind.MEMBER, ReferenceKind.CACHED):
            if not _merged_table(graph, reference) and not _is_table_of_results(graph, reference):
                blank = source in many or kind not in (ReferenceKind.ITEM, ReferenceKind.INDEX)
                blank = blank or graph.census.nodes.length[source] >= LARGE_CONTAINER
                text += "[*]" if blank else f"[{label}]"
        else:
            text += _plain_suffix(graph, reference).replace(_UNNAMED, "")
    return text


def hops(graph: Graph, references: Sequence[int]) -> tuple[Hop, ...]:
    """The path as facts, one hop per reference, nothing merged."""
    return tuple(_hop(graph, reference) for reference in references)


def root_text(census: Census, node: int) -> str:
    """`local variables of Trainer.fit (trainer.py:598)`, `globals of train (train.py)`, `sys.last_exc`."""
    nodes = census.nodes
    name = census.text(int(nodes.name[node])) or census.text(int(nodes.type[node]))
    place = _place(census, node)
    match NodeKind(int(nodes.kind[node])):
        case NodeKind.FRAME:
            return f"local variables of {name}{place}"
        case NodeKind.NAMESPACE:
            return f"globals of {name}{_place(census, node, line=False)}"
        case NodeKind.CLASS:
            return f"class {name}{place}"
        case _:
            return name


def attribute_name(graph: Graph, reference: int) -> str:
    """The attribute a reference stands for: `a` for `x.__dict__['a']` and for `x._modules['a']`; else "", as of what a
    ModuleDict has under a key."""
    kind, label = _kind(graph, reference), unquoted(graph.labels[reference])
    if _merged_table(graph, reference):
        return ""
    if kind == ReferenceKind.ATTRIBUTE:
        return label
    source = _source(graph, reference)
    if kind == ReferenceKind.ITEM and graph.instance_tables[source] and not graph.lists_of_modules[source]:
        return label if _is_name(label) else ""
    return ""


def is_merged(graph: Graph, reference: int) -> bool:
    """Whether a reference is a detail of the interpreter or of torch's modules that no reader needs to see."""
    kind = _kind(graph, reference)
    if kind in (ReferenceKind.DICT, ReferenceKind.CONTENTS):
        return True
    if kind == ReferenceKind.OTHER and graph.labels[reference] in _FUNCTION_PARTS:
        return True
    return _merged_table(graph, reference) or _is_inside_context(graph, reference)


def is_finished_frame(graph: Graph, node: int) -> bool:
    """A frame that runs no more and lives on by its traceback, locals and all."""
    return bool(graph.census.nodes.kind[node] == NodeKind.OBJECT) and graph.type_names[node] == "frame"


def finished_frames(graph: Graph) -> Bools:
    """Per node: `is_finished_frame`."""
    of_type = of_types(graph, "frame".__eq__)
    return np.asarray((graph.census.nodes.kind == NodeKind.OBJECT) & of_type, dtype=bool)


def function_of(graph: Graph, references: Sequence[int], position: int) -> int:
    """The function whose closure or default the reference at `position` is, else its source."""
    source = _source(graph, references[position])
    if graph.census.nodes.name[source] < 0 and position and is_merged(graph, references[position - 1]):
        return _source(graph, references[position - 1])
    return source


def owner_text(graph: Graph, node: int) -> str:
    """What is known of an owner that is not in the census: C++ (a DDP reducer, autocast's cache, a CUDA graph's pool,
    the running backward) by torch's own count of owners, or Python where references are left over."""
    nodes, what = graph.census.nodes, _short_type(graph, node)
    if nodes.native[node] > 0 and nodes.unseen[node] <= 0:
        return f"a native (C++) owner of {what}"
    if graph.type_names[node] in CONTEXTS:
        return "the context (contextvars) of a running thread or task"
    if is_exit(graph, node):
        return "a `with` statement whose block runs"
    if graph.type_names[node] in _CALLABLES:
        return f"{ONLY_C_CODE} (an exit handler or a pack hook, probably): {_name_or_type(graph, node)}"
    if is_iterator(graph, node):
        return f"a running loop over {_name_or_type(graph, node)}{_place(graph.census, node)}"
    if is_table_of_callbacks(graph, node):
        return "hooks that only C++ keeps (of an autograd node, probably)"
    return f"an owner Tenure cannot see (evaluation stack, C code, atexit), of {what}"


def is_table_of_callbacks(graph: Graph, node: int) -> bool:
    """Whether it is what torch makes of `register_hook`: callables by the numbers of their handles."""
    made = graph.references_from(node)
    items = all(_kind(graph, r) == ReferenceKind.ITEM and graph.labels[r].isdigit() for r in made)
    called = all(graph.type_names[_target(graph, r)] in _CALLABLES for r in made)
    return graph.type_names[node] == "collections.OrderedDict" and bool(made) and items and called


def is_known_owner(graph: Graph, node: int) -> bool:
    """Whether the type alone tells what an owner that is not in the census is: a context, or a callback of C code."""
    return graph.type_names[node] in (*CONTEXTS, *_CALLABLES)


def _reference_text(graph: Graph, references: Sequence[int], position: int) -> str:
    reference = references[position]
    kind, label = _kind(graph, reference), graph.labels[reference]
    source = _source(graph, reference)
    census = graph.census
    name = census.text(int(census.nodes.name[source]))
    match kind:
        case ReferenceKind.LOCAL:
            function = name or _short_type(graph, source)
            if census.nodes.kind[source] == NodeKind.FRAME:
                return f"local variable `{label}` in {function}{_place(census, source)}"
            if is_finished_frame(graph, source):
                return f"local variable `{label}` in {function} (finished){_place(census, source)}"
            return f"local variable of suspended `{label}` {function}{_place(census, source)}"
        case ReferenceKind.GLOBAL:
            return _global_text(graph, reference)
        case ReferenceKind.CELL | ReferenceKind.DEFAULT:
            owner = function_of(graph, references, position)
            what = "closure variable" if kind == ReferenceKind.CELL else "default of parameter"
            return f"{what} `{label}` of {_name_or_type(graph, owner)}{_place(census, owner)}"
        case _:
            pass
    attribute = attribute_name(graph, reference)
    if attribute:
        root = _class_root(graph, references, position)
        if root >= 0 and (_name_or_type(graph, root), attribute) == ("finalize", "_registry"):
            return "callbacks of `weakref.finalize`"
        if root >= 0:
            return f"class attribute `{attribute}` of {_name_or_type(graph, root)}{_place(census, root)}"
        if census.nodes.kind[source] == NodeKind.HIDDEN:
            return f"{root_text(census, source)}: {attribute}"
        return f".{attribute}"
    if is_merged(graph, reference) or kind == ReferenceKind.STORAGE:
        return ""
    if census.nodes.kind[source] == NodeKind.HIDDEN:
        return root_text(census, source) + (f": {label}" if label else "")
    if _is_context_variable(graph, reference):
        return f"context variable `{label}`"
    if kind in (ReferenceKind.ITEM, ReferenceKind.INDEX):
        return f"[{label}]"
    return _plain_suffix(graph, reference)


def _global_text(graph: Graph, reference: int) -> str:
    """A module's global as people call it: `sys.last_exc`, a notebook's `Out`, else ``global `x` in train``."""
    census, source, label = graph.census, _source(graph, reference), graph.labels[reference]
    name = census.text(int(census.nodes.name[source]))
    if name == "sys" and label in _LAST_ERROR:
        return f"`sys.{label}` (the last uncaught error)"
    if name in sys.stdlib_module_names and graph.library[source]:
        return f"`{name}.{label}`"
    if label in _CELL_OUTPUTS or (_CELL_OUTPUT.fullmatch(label) and _keeps_cell_outputs(graph, source)):
        return f"cell output history `{label}`"
    return f"global `{label}` in {name}{_place(census, source, line=False)}"


def _keeps_cell_outputs(graph: Graph, namespace: int) -> bool:
    """Whether IPython keeps what cells gave back in this namespace."""
    return any(graph.labels[reference] in _CELL_OUTPUTS for reference in graph.references_from(namespace))


def _is_inside_context(graph: Graph, reference: int) -> bool:
    """From a `contextvars.Context` to the tree that it keeps its variables in, and within that."""
    owner = graph.type_names[_source(graph, reference)]
    return owner == "hamt" or owner in CONTEXTS or (owner.startswith("hamt_") and not graph.labels[reference])


def _is_context_variable(graph: Graph, reference: int) -> bool:
    return bool(graph.labels[reference]) and graph.type_names[_source(graph, reference)].startswith("hamt_")


def _class_root(graph: Graph, references: Sequence[int], position: int) -> int:
    for earlier in references[max(0, position - 1) : position + 1]:
        source = _source(graph, earlier)
        if graph.census.nodes.kind[source] == NodeKind.CLASS:
            return source
    return -1


def _plain_suffix(graph: Graph, reference: int) -> str:
    kind, label = _kind(graph, reference), graph.labels[reference]
    match kind:
        case ReferenceKind.DICT | ReferenceKind.CONTENTS | ReferenceKind.STORAGE:
            return ""
        case ReferenceKind.GRAD_FN:
            return ".grad_fn"
        case ReferenceKind.NEXT:
            is_leaf = graph.census.nodes.kind[_target(graph, reference)] == NodeKind.TENSOR
            return ".variable" if is_leaf else f".next_functions[{label}]"
        case ReferenceKind.SAVED:
            return f".{label}" if label.startswith("_") else f"._saved_{label}" if _is_name(label) else ".saved"
        case ReferenceKind.GRAD:
            return ".grad"
        case ReferenceKind.BASE:
            return "._base"
        case ReferenceKind.SELF:
            return ".__self__"
        case ReferenceKind.MEMBER:
            return " (a key)" if label == "key" else " (an element)"
        case ReferenceKind.CACHED:
            return " (a cached result)"
        case ReferenceKind.NATIVE:
            return f" ({label}, in C++)"
        case ReferenceKind.HOOK:
            return " (hooks)" if label in ("", "hook") else f" (hook {label})"
        case _:
            if label in _FUNCTION_PARTS:
                return ""
            return f" ({label})" if label else _UNNAMED


def _hop(graph: Graph, reference: int) -> Hop:
    census, source, target = graph.census, _source(graph, reference), _target(graph, reference)
    nodes = census.nodes
    return Hop(
        kind=_kind(graph, reference).name,
        label=graph.labels[reference],
        source_kind=NodeKind(int(nodes.kind[source])).name,
        source_type=graph.type_names[source],
        source_name=census.text(int(nodes.name[source])),
        target_kind=NodeKind(int(nodes.kind[target])).name,
        target_type=graph.type_names[target],
        file=census.text(int(nodes.file[source])),
        line=max(0, int(nodes.line[source])),
        user=not bool(graph.library[source]),
    )


def _is_table_of_results(graph: Graph, reference: int) -> bool:
    """From a cached function to the dict that it keeps its results in."""
    return _kind(graph, reference) == ReferenceKind.CACHED and graph.type_names[_target(graph, reference)] == "dict"


def _merged_table(graph: Graph, reference: int) -> bool:
    return bool(graph.instance_tables[_target(graph, reference)]) and unquoted(graph.labels[reference]) in MODULE_TABLES


def _place(census: Census, node: int, *, line: bool = True) -> str:
    file = posixpath.basename(census.text(int(census.nodes.file[node])).replace("\\", "/"))
    number = int(census.nodes.line[node])
    if not file:
        return ""
    return f" ({file}:{number})" if line and number > 0 else f" ({file})"


def _name_or_type(graph: Graph, node: int) -> str:
    return graph.census.text(int(graph.census.nodes.name[node])) or _short_type(graph, node)


def _short_type(graph: Graph, node: int) -> str:
    return graph.type_names[node].rpartition(".")[2] or NodeKind(int(graph.census.nodes.kind[node])).name.lower()


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _is_root(graph: Graph, node: int) -> bool:
    return int(graph.census.nodes.kind[node]) in ROOT_KINDS


def _is_told_by_itself(graph: Graph, node: int) -> bool:
    """A root that needs a text where the reference from it has none; a class is told with its attribute."""
    return int(graph.census.nodes.kind[node]) in (NodeKind.HIDDEN, NodeKind.NAMESPACE, NodeKind.FRAME)


def _kind(graph: Graph, reference: int) -> ReferenceKind:
    return ReferenceKind(int(graph.census.references.kind[reference]))


def _source(graph: Graph, reference: int) -> int:
    return int(graph.census.references.source[reference])


def _target(graph: Graph, reference: int) -> int:
    return int(graph.census.references.target[reference])
