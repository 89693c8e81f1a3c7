"""Numbers in a program's source that set its batch size: defaults of options, constants, arguments of data loaders."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenure.errors import SourceError

OPTION, CONSTANT, LOADER = "option", "constant", "loader"
_NAME = re.compile(
    r"(per_(device|gpu)_)?(train(ing)?_)?((micro|mini|device)_?)?(batch_?size|bs)(_per_(device|gpu))?", re.IGNORECASE
)
_LOADER = "DataLoader"
_OPTIONS = ("add_argument", "option", "Option")


@dataclass(frozen=True)
class BatchNumber:
    """A number and what it is of; `names` are an option's spellings. `value` is None where it is no plain number.

    `start` and `end` are columns of `line`, in bytes; of an option, whose number is changed in the command, both are 0.
    """

    kind: str
    names: tuple[str, ...]
    value: int | None
    line: int
    start: int = 0
    end: int = 0

    @property
    def name(self) -> str:
        """What it is called: of an option its longest spelling that tells of a batch, where one does."""
        telling = [name for name in self.names if is_batch_name(name)]
        return max(telling or self.names, key=len)


def is_batch_name(name: str) -> bool:
    """Whether an option, a key such as `train.batch_size`, or a constant is called as batch sizes are."""
    if name in ("-b", "--batch"):
        return True
    return _NAME.fullmatch(name.lstrip("-+").rpartition(".")[2].replace("-", "_")) is not None


def find_numbers(text: bytes) -> tuple[BatchNumber, ...]:
    """All options, constants of plain numbers, and data loaders of a file, in its order; none where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's own escapes, which Python tells when it runs them
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    nodes = list(ast.walk(tree))
    constants = {each.names[0]: each.value for node in nodes for each in _constants_of(node)}
    found = [each for node in nodes for each in (*_constants_of(node), *_of_call(node, constants))]
    lines = text.split(b"\n")
    return tuple(each for each in sorted(found, key=lambda each: each.line) if _is_there(each, lines))


def put_number(text: bytes, kind: str, name: str, size: int) -> bytes:
    """The text with another number there. SourceError where it has not exactly one of that kind and name."""
    places = [each for each in find_numbers(text) if (each.kind, each.name) == (kind, name)]
    if len(places) != 1:
        raise SourceError(f"the edited source has {len(places)} places that may be {name}")
    lines, place = text.split(b"\n"), places[0]
    line = lines[place.line - 1]
    lines[place.line - 1] = line[: place.start] + str(size).encode() + line[place.end :]
    return b"\n".join(lines)


def _is_there(number: BatchNumber, lines: Sequence[bytes]) -> bool:
    """Whether the line has it where the parser says: in other encodings than UTF-8 columns may be others."""
    if number.kind == OPTION:
        return True
    return lines[number.line - 1][number.start : number.end] == str(number.value).encode()


def _constants_of(node: ast.AST) -> Iterator[BatchNumber]:
    """`BATCH_SIZE = 32`, at any depth; fields of dataclasses are written so, too."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target: ast.expr = node.targets[0]
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        target = node.target
    else:
        return
    if isinstance(target, ast.Name) and node.value is not None and _number(node.value):
        yield _place(CONSTANT, target.id, node.value)


def _of_call(node: ast.AST, constants: dict[str, int | None]) -> Iterator[BatchNumber]:
    if not isinstance(node, ast.Call):
        return
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = {each.arg: each.value for each in node.keywords if each.arg}
    if called in _OPTIONS:
        texts = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        names = tuple(each for each in texts if each.startswith("-"))
        if names:
            yield BatchNumber(OPTION, names, _default(given.get("default"), constants), node.lineno)
    elif called.endswith(_LOADER):
        size = given.get("batch_size", node.args[1] if len(node.args) > 1 else None)
        shuffles = getattr(given.get("shuffle"), "value", False) is True
        if size is not None and _number(size):
            yield _place(LOADER, f"the shuffled {called}" if shuffles else f"the {called}", size)
    else:
        for name, value in given.items():
            if name.startswith("per_") and is_batch_name(name) and _number(value):
                yield _place(LOADER, f"{name} of {called}", value)


def _default(value: ast.expr | None, constants: dict[str, int | None]) -> int | None:
    return constants.get(value.id) if isinstance(value, ast.Name) else _number(value)


def _number(value: ast.expr | None) -> int | None:
    """A number that may be a batch size: whole, and not 0."""
    return value.value if isinstance(value, ast.Constant) and type(value.value) is int and value.value else None


def _place(kind: str, name: str, value: ast.expr) -> BatchNumber:
    assert value.end_col_offset is not None
    return BatchNumber(kind, (name,), _number(value), value.lineno, value.col_offset, value.end_col_offset)
