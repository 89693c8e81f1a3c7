"""What a program computes of each value that it kept, computed where it is kept: `xs.append(x.mean())` of what is read
as `[x.mean() for x in xs]`, `self.rates[k] = schedule.get_last_lr()` of `self.rates[k].get_last_lr()`, `str(error)` of
what is printed.

The values may change meanwhile, or be asked for in a way that source does not show; these are edits to be tried by a
run. What waits for the device (`.item()`, `.tolist()`, `.cpu()`) stays where it is read.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_parts import part_kept
from tenure.syntax.edits.kept_reads import Parents, Read, reads_of_kept, store_at
from tenure.syntax.edits.kept_values import PRIMARIES
from tenure.syntax.edits.line_edits import split_lines, write_over
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk

_STAYS = frozenset(
    {"item", "tolist", "numpy", "cpu", "cuda", "to", "backward", "append", "register_hook"}
    | {"nonzero", "argwhere", "unique", "unique_consecutive", "masked_select", "bincount"}
    | {"equal", "allclose", "is_nonzero"}
)
"""Waits for the device (some to know how large the result is), moves, or is no value."""
_BY_ROW = frozenset({"argmax", "argmin", "softmax", "log_softmax", "sum", "mean", "amax", "amin", "norm"})
"""Of a matrix: each row by itself, where the dimension is the last one."""
_LAST = ("-1", "dim=-1", "1", "dim=1")
_MODULES = ("torch.", "F.", "nn.functional.", "torch.nn.functional.")
_BUILT_IN = ("len", "type")
_TEXTS = ("repr", "str")
_WRITTEN = "print"
_CLASS_NAMES = ("__class__", "__name__", "__qualname__")


@dataclass(frozen=True)
class _Step:
    """What is computed of an expression: the whole, and what stands in front of and behind it."""

    node: ast.expr
    before: str
    after: str


def compute_when_kept(
    sources: Sequence[SourceFile],
    source: SourceFile,
    line: int,
    name: str,
    labels: Sequence[str],
    *,
    texts: bool = False,
) -> tuple[Edit, ...]:
    """The edits that compute what all reads of the kept values have in common in the statement on `line` that keeps.

    `labels` lead from what is kept to the part that is meant, as in `part_of`. None where a read may want the value
    itself. With `texts` also `str(x)`, which of a tensor would wait for the device.
    """
    store, value = store_at(source, line, name), part_kept(sources, source, line, name, labels)
    if store is None or value is None or isinstance(value, (ast.Constant, ast.Starred)):
        return ()
    reads = reads_of_kept(sources, source, store, name, labels) or ()
    chains = [list(_computed(read, texts)) for read in reads]
    steps = _in_common(chains)
    if not steps:
        return ()
    changes: dict[SourceFile, list[tuple[ast.AST, str]]] = defaultdict(list)
    for read, chain in zip(reads, chains, strict=True):
        text = ast.get_source_segment(read.source.text, read.node) or ""
        changes[read.source].append((chain[len(steps) - 1].node, text))
    changes[source].append((value, _around(source, value, steps)))
    edits = [write_over(file, several) for file, several in changes.items()]
    return tuple(edit for each in edits for edit in each) if all(edits) else ()


def _in_common(chains: Sequence[Sequence[_Step]]) -> list[tuple[str, str]]:
    """The first steps of all chains, as far as they are the same."""
    texts = [[(each.before, each.after) for each in chain] for chain in chains]
    return [several[0] for several in takewhile(lambda several: len(set(several)) == 1, zip(*texts, strict=False))]


def _around(source: SourceFile, value: ast.expr, steps: Sequence[tuple[str, str]]) -> str:
    text = ast.get_source_segment(source.text, value) or ""
    text = text if isinstance(value, PRIMARIES) else f"({text})"
    for before, after in steps:
        text = f"{before}{text}{after}"
    return text


def _computed(read: Read, texts: bool) -> Iterator[_Step]:
    """What is computed of a read value alone, step by step outwards."""
    node, around = read.node, list(read.parents)
    while (step := _step(read, node, around, texts)) is not None:
        yield step
        if step.node is node:
            return
        around = around[: next(at for at, each in enumerate(around) if each is step.node)]
        node = step.node


def _step(read: Read, node: ast.expr, around: Parents, texts: bool) -> _Step | None:
    parent = around[-1] if around else None
    whole = around[-2] if len(around) > 1 else None
    if texts and (isinstance(parent, ast.FormattedValue) or _is_written(parent, node)):
        return _Step(node, "str(", ")")
    if isinstance(parent, ast.Attribute) and isinstance(whole, ast.Call) and whole.func is parent:
        return _of_call(read, node, whole, parent.attr, whole.args)
    if isinstance(parent, ast.Call) and parent.args[:1] == [node]:
        called = dotted(parent.func)
        is_known = called.startswith(_MODULES) or called in _BUILT_IN or (texts and called in _TEXTS)
        return _of_call(read, node, parent, called_name(parent), parent.args[1:]) if is_known else None
    is_name = isinstance(parent, ast.Attribute) and parent.attr in _CLASS_NAMES
    is_item = isinstance(parent, ast.Subscript) and isinstance(node, ast.Call) and _is_the_same(parent.slice)
    if (is_name or is_item) and isinstance(parent, ast.expr) and not read.joined:
        return _around_node(read.source, parent, node)
    return None


def _is_written(parent: ast.AST | None, node: ast.expr) -> bool:
    """Whether a value is printed, and so turned into text."""
    return isinstance(parent, ast.Call) and dotted(parent.func) == _WRITTEN and node in parent.args


def _of_call(read: Read, node: ast.expr, call: ast.Call, method: str, given: Sequence[ast.expr]) -> _Step | None:
    others = [*given, *(each.value for each in call.keywords)]
    if method in _STAYS or method.endswith("_") or not all(map(_is_the_same, others)):
        return None
    if read.joined and not (method in _BY_ROW and _of_last_dimension(call, given)):
        return None
    return _around_node(read.source, call, node)


def _of_last_dimension(call: ast.Call, given: Sequence[ast.expr]) -> bool:
    return [ast.unparse(each) for each in (*given, *call.keywords)] in [[each] for each in _LAST]


def _around_node(source: SourceFile, whole: ast.expr, node: ast.expr) -> _Step | None:
    if whole.lineno != whole.end_lineno:
        return None
    line = split_lines(source.text)[whole.lineno - 1].encode()
    before, after = line[whole.col_offset : node.col_offset], line[node.end_col_offset : whole.end_col_offset]
    return _Step(whole, before.decode(), after.decode())


def _is_the_same(value: ast.expr) -> bool:
    """Whether an argument means the same in another function: constants and what torch has."""
    return all(
        not isinstance(each, (ast.Name, ast.Call)) or (isinstance(each, ast.Name) and each.id == "torch")
        for each in walk(value)
    )
