"""A zoo program as syntax trees: read, and written anew with the truth's statements at their new lines."""

from __future__ import annotations

import ast
import copy
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import zoo_score
from zoo_score import Truth

MARK = "the truth's statement"
KIT = "zoo_beside"
Function = ast.FunctionDef


@dataclass(frozen=True)
class Program:
    """The files of one zoo program as syntax trees, and the statements that its truth names."""

    truth: Truth
    files: dict[str, ast.Module]
    marked: dict[int, tuple[str, ast.stmt]]
    """The file and the statement of each place, by the place's number."""

    @property
    def main(self) -> ast.Module:
        return self.files["train.py"]

    def functions_of_truth(self) -> list[Function]:
        """The innermost functions around the truth's statements, generators and `forward` among them."""
        found = []
        for name, statement in self.marked.values():
            around = [
                node
                for node in ast.walk(self.files[name])
                if isinstance(node, Function) and any(each is statement for each in ast.walk(node))
            ]
            inner = [node for node in around if node is not statement]
            if inner and inner[-1] not in found:
                found.append(inner[-1])
        return found


def read_program(truth: Truth) -> Program:
    """A program's files, but for its mend."""
    folder = zoo_score.ZOO / truth.slug
    names = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.py")) if path.name != "fixed.py"]
    files = {name: ast.parse((folder / name).read_text()) for name in names}
    marked = {}
    for number, place in enumerate(truth.places):
        statement = _statement_at(files.get(place.file), place.line)
        if statement is not None:
            marked[number] = (place.file, statement)
    return Program(truth, files, marked)


def _statement_at(tree: ast.Module | None, line: int) -> ast.stmt | None:
    """The innermost statement over a line."""
    around = [
        node
        for node in ast.walk(tree or ast.Module([], []))
        if isinstance(node, ast.stmt) and _first_line(node) <= line <= (node.end_lineno or 0)
    ]
    return min(around, key=lambda node: (node.end_lineno or 0) - _first_line(node), default=None)


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])


def write_program(program: Program, folder: Path) -> Truth:
    """The files below `folder`; the truth with the lines that its statements have there."""
    places = list(program.truth.places)
    shutil.copytree(
        zoo_score.ZOO / program.truth.slug, folder, ignore=shutil.ignore_patterns("fixed.py", "__pycache__")
    )
    for name, tree in program.files.items():
        lines, found = _without_marks(ast.unparse(ast.fix_missing_locations(_with_marks(tree, program, name))))
        for number, line in found.items():
            places[number] = replace(places[number], line=line)
        (folder / name).write_text("\n".join(lines) + "\n")
    shutil.copy(Path(__file__).with_name(f"{KIT}.py"), folder)
    return replace(program.truth, places=tuple(places))


def _with_marks(tree: ast.Module, program: Program, name: str) -> ast.Module:
    """A copy of the tree with a text before each of the truth's statements."""
    for number, (file, statement) in program.marked.items():
        if file == name:
            statement.marks = (*getattr(statement, "marks", ()), number)  # type: ignore[attr-defined]
    marked = copy.deepcopy(tree)
    for statement in (each for file, each in program.marked.values() if file == name):
        statement.__dict__.pop("marks", None)
    for body in list(bodies(marked)):
        body[:] = [
            each
            for node in body
            for each in (*(ast.Expr(ast.Constant(f"{MARK} {at}")) for at in getattr(node, "marks", ())), node)
        ]
    return marked


def _without_marks(text: str) -> tuple[list[str], dict[int, int]]:
    """The lines without the texts, and the line of the statement after each of them."""
    lines: list[str] = []
    found, waiting = {}, []
    for line in text.splitlines():
        if MARK in line:
            waiting.append(int(line.strip().strip("\"'").rpartition(" ")[2]))
            continue
        lines.append(line)
        if not line.strip().startswith("@") and line.strip():
            found |= dict.fromkeys(waiting, len(lines))
            waiting.clear()
    return lines, found


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                yield body
