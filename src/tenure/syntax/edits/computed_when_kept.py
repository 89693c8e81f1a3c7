"""What a program computes of each value that a list kept, computed where it is kept: `xs.append(x.mean())` of what is
read as `[x.mean() for x in xs]`, `xs.append(x.argmax(-1))` of what is read as `torch.cat(xs).argmax(-1)`.

The values may be asked for otherwise, in a way that source does not show; these are edits to be tried by a run. What
waits for the device (`.item()`, `.tolist()`, `.cpu()`) stays where it is read.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.container_reads import append_at, depth_of, reads_beside
from tenure.syntax.edits.kept_parts import part_kept
from tenure.syntax.edits.line_edits import split_lines, write_over
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk

_STAYS = frozenset({"item", "tolist", "numpy", "cpu", "cuda", "to", "backward", "append", "register_hook", "type"})
"""Waits, moves, or is no value."""
_JOINS = ("cat", "concat", "concatenate", "vstack")
_BY_ROW = frozenset({"argmax", "argmin", "softmax", "log_softmax", "sum", "mean", "amax", "amin", "norm"})
"""Of a matrix: each row by itself, where the dimension is the last one."""
_LAST = ("-1", "dim=-1", "1", "dim=1")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_MODULES = ("torch.", "F.", "nn.functional.", "torch.nn.functional.")
_PRIMARIES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
Parents = Sequence[ast.AST]


@dataclass(frozen=True)
class _Read:
    """A place that reads what was kept: the expression, the nodes around it (the innermost last), and whether it is of
    all values joined."""

    node: ast.expr
    parents: Parents
    joined: bool = False


@dataclass(frozen=True)
class _Call:
    """What is computed of an expression: the whole, and what stands in front of and behind it."""

    node: ast.expr
    before: str
    after: str


def compute_when_kept(
    sources: Sequence[SourceFile], source: SourceFile, line: int, name: str, labels: Sequence[str]
) -> tuple[Edit, ...]:
    """The edits that compute what all reads of the kept values have in common in the `append` on `line`.

    `labels` lead from what is appended to the tensor, as in `part_of`. None where a read may want the value itself.
    """
    call = append_at(source, line, name)
    value = part_kept(sources, source, line, name, labels) if call else None
    if call is None or value is None or isinstance(value, (ast.Constant, ast.Starred)):
        return ()
    reads = _all_reads(sources, source, *call, name, labels)
    chains = [(file, read, list(_computed(file, read))) for file, read in reads or ()]
    steps = _in_common([chain for _, _, chain in chains])
    if not steps:
        return ()
    changes: dict[SourceFile, list[tuple[ast.AST, str]]] = defaultdict(list)
    for file, read, chain in chains:
        changes[file].append((chain[len(steps) - 1].node, ast.get_source_segment(file.text, read.node) or ""))
    changes[source].append((value, _around(source, value, steps)))
    edits = [write_over(file, several) for file, several in changes.items()]
    return tuple(edit for each in edits for edit in each) if all(edits) else ()


def _all_reads(
    sources: Sequence[SourceFile],
    source: SourceFile,
    statement: ast.stmt,
    container: ast.expr,
    name: str,
    labels: Sequence[str],
) -> list[tuple[SourceFile, _Read]] | None:
    """Where the values are read that a statement adds to a container; None where one read is not clear."""
    files = [source] if isinstance(container, ast.Name) else sources
    found: list[tuple[SourceFile, _Read]] = []
    for file in files:
        for parents, node in reads_beside([file], source, statement, name, container):
            reads = _reads(node, parents, depth_of(container), labels)
            if reads is None:
                return None
            found += [(file, each) for each in reads]
    return found


def _in_common(chains: Sequence[Sequence[_Call]]) -> list[tuple[str, str]]:
    """The first steps of all chains, as far as they are the same."""
    texts = [[(each.before, each.after) for each in chain] for chain in chains]
    return [several[0] for several in takewhile(lambda several: len(set(several)) == 1, zip(*texts, strict=False))]


def _around(source: SourceFile, value: ast.expr, steps: Sequence[tuple[str, str]]) -> str:
    text = ast.get_source_segment(source.text, value) or ""
    text = text if isinstance(value, _PRIMARIES) else f"({text})"
    for before, after in steps:
        text = f"{before}{text}{after}"
    return text


def _reads(node: ast.expr, parents: Parents, depth: int, labels: Sequence[str]) -> list[_Read] | None:
    """The expressions that stand for kept values, where a container is read; None where that is not clear."""
    around = list(parents)
    if depth == 1 and _is_called(around, node, "items", "values"):
        return _of_tables(around, labels)
    for _ in range(depth):
        above = around.pop()
        if not isinstance(above, ast.Subscript) or above.value is not node:
            return None
        node = above
    return _of_list(node, around, labels)


def _of_tables(around: Parents, labels: Sequence[str]) -> list[_Read] | None:
    """Where `for key, xs in rows.items()` goes through lists."""
    method, call = around[-1], around[-2]
    loop = _loop_over(call, around[:-2])
    if loop is None:
        return None
    target: ast.expr = loop[0]
    if isinstance(method, ast.Attribute) and method.attr == "items":
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            return None
        target = target.elts[1]
    found: list[_Read] = []
    for named, parents in _mentions(target, loop[1]):
        reads = _of_list(named, parents, labels)
        if reads is None:
            return None
        found += reads
    return found


def _of_list(node: ast.expr, around: Parents, labels: Sequence[str]) -> list[_Read] | None:
    if not around or _only_counts(node, around):
        return []
    parent = around[-1]
    if isinstance(parent, ast.Call) and called_name(parent) in _JOINS and parent.args[:1] == [node] and not labels:
        return [_Read(parent, around[:-1], joined=True)] if len(parent.args) == 1 and not parent.keywords else None
    loop = _loop_over(node, around)
    if loop is None:
        return None
    target, left = loop[0], list(labels)
    if isinstance(target, (ast.Tuple, ast.List)):
        at = int(left.pop(0)) if left and left[0].isdecimal() else -1
        if not 0 <= at < len(target.elts) or any(isinstance(each, ast.Starred) for each in target.elts):
            return None
        target = target.elts[at]
    reads: list[_Read] = []
    for named, parents in _mentions(target, loop[1]):
        if left and _takes_another(named, parents, left[0]):
            continue
        read = _below(named, parents, left)
        if read is None:
            return None
        reads.append(read)
    return reads


def _only_counts(node: ast.expr, around: Parents) -> bool:
    """Whether a read asks how many there are, whether there are any, or empties the container."""
    parent = around[-1]
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in ("len", "bool")
    if isinstance(parent, (ast.If, ast.IfExp, ast.While)):
        return parent.test is node
    return isinstance(parent, ast.UnaryOp) or _is_called(around, node, "clear")


def _is_called(around: Parents, node: ast.expr, *methods: str) -> bool:
    """Whether a read is the object of a call of one of these methods, without arguments."""
    method, call = (around[-1], around[-2]) if len(around) > 1 else (None, None)
    named = isinstance(method, ast.Attribute) and method.value is node and method.attr in methods
    return named and isinstance(call, ast.Call) and call.func is method and not call.args


def _loop_over(node: ast.AST, around: Parents) -> tuple[ast.expr, list[ast.AST]] | None:
    """The target of the loop or comprehension that goes through a container, and what is done in it."""
    parent = around[-1] if around else None
    if isinstance(parent, ast.For) and parent.iter is node:
        return parent.target, list(parent.body)
    if not isinstance(parent, ast.comprehension) or parent.iter is not node:
        return None
    whole = around[-2]
    assert isinstance(whole, _COMPREHENSIONS)
    inner = whole.generators[whole.generators.index(parent) + 1 :]
    done = [whole.key, whole.value] if isinstance(whole, ast.DictComp) else [whole.elt]
    return parent.target, [*done, *parent.ifs, *inner]


def _mentions(target: ast.expr, body: Sequence[ast.AST]) -> Iterator[tuple[ast.expr, list[ast.AST]]]:
    """Where a loop's variable is read in it, with the nodes around."""
    name = target.id if isinstance(target, ast.Name) else ""
    for part in body:
        waiting: list[tuple[list[ast.AST], ast.AST]] = [([], part)]
        while waiting:
            parents, node = waiting.pop()
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                yield node, parents
            waiting += [([*parents, node], child) for child in ast.iter_child_nodes(node)]


def _below(named: ast.expr, parents: Parents, labels: Sequence[str]) -> _Read | None:
    """The part of a loop's variable that the labels lead to: `row.logits`, `row['logits']`, `row[1]`."""
    around = list(parents)
    for label in labels:
        above = around.pop() if around else None
        if _label_of(above, named) != label or not isinstance(above, ast.expr):
            return None
        named = above
    return _Read(named, around)


def _takes_another(named: ast.expr, parents: Parents, label: str) -> bool:
    """Whether a mention takes another part of the variable than the label's: `row.step`."""
    found = _label_of(parents[-1] if parents else None, named)
    return bool(found) and found != label


def _label_of(above: ast.AST | None, named: ast.expr) -> str:
    """`logits` of `row.logits`, `'logits'` of `row['logits']`, `1` of `row[1]`; "" of anything else."""
    if isinstance(above, ast.Subscript) and above.value is named and isinstance(above.slice, ast.Constant):
        return repr(above.slice.value)
    return above.attr if isinstance(above, ast.Attribute) and above.value is named else ""


def _computed(source: SourceFile, read: _Read) -> Iterator[_Call]:
    """What is computed of a read value alone, step by step outwards."""
    node, around = read.node, list(read.parents)
    while (call := _step(source, node, around, joined=read.joined)) is not None:
        yield call
        around = around[: _index(around, call.node)]
        node = call.node


def _index(around: Parents, node: ast.AST) -> int:
    return next(at for at, each in enumerate(around) if each is node)


def _step(source: SourceFile, node: ast.expr, around: Parents, *, joined: bool) -> _Call | None:
    parent = around[-1] if around else None
    whole = around[-2] if len(around) > 1 else None
    if isinstance(parent, ast.Attribute) and isinstance(whole, ast.Call) and whole.func is parent:
        call, method, given = whole, parent.attr, whole.args
    elif isinstance(parent, ast.Call) and parent.args[:1] == [node] and dotted(parent.func).startswith(_MODULES):
        call, method, given = parent, called_name(parent), parent.args[1:]
    else:
        return None
    others = [*given, *(each.value for each in call.keywords)]
    if method in _STAYS or method.endswith("_") or not all(map(_is_the_same_everywhere, others)):
        return None
    if joined and not (method in _BY_ROW and _of_last_dimension(call, given)):
        return None
    return _around_node(source, call, node)


def _of_last_dimension(call: ast.Call, given: Sequence[ast.expr]) -> bool:
    return [ast.unparse(each) for each in (*given, *call.keywords)] in [[each] for each in _LAST]


def _around_node(source: SourceFile, call: ast.Call, node: ast.expr) -> _Call | None:
    if call.lineno != call.end_lineno:
        return None
    line = split_lines(source.text)[call.lineno - 1].encode()
    before, after = line[call.col_offset : node.col_offset], line[node.end_col_offset : call.end_col_offset]
    return _Call(call, before.decode(), after.decode())


def _is_the_same_everywhere(value: ast.expr) -> bool:
    """Whether an argument means the same in another function: constants and what torch has."""
    return all(
        not isinstance(each, (ast.Name, ast.Call)) or (isinstance(each, ast.Name) and each.id == "torch")
        for each in walk(value)
    )
