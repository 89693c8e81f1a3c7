"""The floor plan, drawn from the imports and compared with the picture in docs/floor-plan.md."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "tenure"
PICTURE = ROOT / "docs" / "floor-plan.md"
OUTSIDE = {"__init__", "__main__", "demos"}
START_UP = "capture/startup/"
RECORDER = "capture/from_environment.py"
ALLOWED_FROM_PACKAGES = {"tenure.rules.all_rules", "tenure.__version__"}


@dataclass(frozen=True)
class Import:
    """One imported name: `target` is a module, or `module.name`; `at_once` is false inside functions."""

    file: Path
    line: int
    target: str
    from_module: str | None
    at_once: bool

    @property
    def place(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"


def read_picture(text: str) -> tuple[dict[str, int], set[str]]:
    """Floor by room, and the rooms that may import torch."""
    floors, with_torch = {}, set()
    for line in re.findall(r"^ floor .*$", text, re.MULTILINE):
        number, rooms = re.match(r" floor (\d+) +(.*)$", line.partition("* =")[0]).groups()
        for room, star in re.findall(r"([a-z_]+)/?( \*)?", rooms):
            floors[room] = int(number)
            if star:
                with_torch.add(room)
    return floors, with_torch


def read_inner_picture(text: str) -> dict[str, dict[str, int]]:
    """Of each room with rooms inside: the level of each of them, "itself" for what lies in the room directly."""
    levels: dict[str, dict[str, int]] = {}
    for room, number, inner in re.findall(r"^ ([a-z_]+) (\d+) {2,}(.*)$", text, re.MULTILINE):
        if room != "floor":
            levels.setdefault(room, {}).update(dict.fromkeys(re.findall(r"[a-z_]+", inner), int(number)))
    return levels


FLOORS, WITH_TORCH = read_picture(PICTURE.read_text(encoding="utf-8"))
INNER = read_inner_picture(PICTURE.read_text(encoding="utf-8"))


def source_files() -> list[Path]:
    return [file for file in sorted(PACKAGE.rglob("*.py")) if room_of(file) != "demos"]


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def inner_room_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE).parts
    return parts[1] if len(parts) > 2 else "itself"


def imports_of(file: Path) -> list[Import]:
    tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    return list(_imports_below(tree, file, at_once=True))


def _imports_below(node: ast.AST, file: Path, *, at_once: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(file, child.lineno, alias.name, None, at_once)
        elif isinstance(child, ast.ImportFrom):
            module = "." * child.level + (child.module or "")
            for alias in child.names:
                yield Import(file, child.lineno, f"{module}.{alias.name}", module, at_once)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _imports_below(child, file, at_once=False)
        else:
            lazy = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports_below(child, file, at_once=at_once and not lazy)


def module_file(target: str) -> Path | None:
    """The file of a `tenure...` target: of the module itself, or of the module that a name is taken from."""
    for name in (target, target.rpartition(".")[0]):
        path = PACKAGE.parent.joinpath(*name.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


def is_compiled(target: str) -> bool:
    """Whether a target is a module in C of ours."""
    return PACKAGE.parent.joinpath(*target.split(".")).with_suffix(".c").is_file()


def is_ours(found: Import) -> bool:
    return found.target.split(".")[0] == "tenure"


def complain(broken: list[str]) -> None:
    if broken:
        pytest.fail("the floor plan is broken:\n  " + "\n  ".join(broken), pytrace=False)


ALL_IMPORTS = [found for file in source_files() for found in imports_of(file)]


def test_the_picture_shows_exactly_the_rooms_that_there_are() -> None:
    rooms = {
        entry.name.removesuffix(".py")
        for entry in PACKAGE.iterdir()
        if entry.suffix == ".py" or (entry.is_dir() and list(entry.glob("*.py")))
    }
    assert rooms - OUTSIDE == set(FLOORS)


def test_a_room_looks_only_down() -> None:
    broken = []
    for found in ALL_IMPORTS:
        target = module_file(found.target) if is_ours(found) else None
        own, other = room_of(found.file), room_of(target) if target else None
        if other is None or own in OUTSIDE or other in OUTSIDE or own == other:
            continue
        if FLOORS[other] >= FLOORS[own]:
            relation = "a stranger on" if FLOORS[other] == FLOORS[own] else "above it on"
            what = f"{own} (floor {FLOORS[own]}) imports {other}, {relation} floor {FLOORS[other]}"
            broken.append(f"{found.place}: {what}")
    complain(broken)


@pytest.mark.parametrize("room", sorted(INNER))
def test_the_rooms_inside_a_room_are_drawn_and_look_only_down(room: str) -> None:
    files = (file for file in (PACKAGE / room).rglob("*.py") if file.name != "__init__.py")
    assert {inner_room_of(file) for file in files} == set(INNER[room])
    broken = []
    for found in ALL_IMPORTS:
        target = module_file(found.target) if is_ours(found) else None
        if target is None or room_of(found.file) != room or room_of(target) != room:
            continue
        if found.file.name == "__init__.py":  # the room's door
            continue
        own, other = inner_room_of(found.file), inner_room_of(target)
        if own != other and INNER[room][other] >= INNER[room][own]:
            broken.append(f"{found.place}: {room}/{own} imports {room}/{other}, which does not lie below it")
    complain(broken)


def test_torch_is_imported_only_where_the_picture_allows_it() -> None:
    broken = [
        f"{found.place}: {room_of(found.file)} imports torch; only {', '.join(sorted(WITH_TORCH))} may"
        for found in ALL_IMPORTS
        if found.target.split(".")[0] == "torch" and room_of(found.file) not in WITH_TORCH
    ]
    complain(broken)


def test_names_come_from_the_module_that_defines_them() -> None:
    broken = []
    for found in ALL_IMPORTS:
        if found.from_module is None or not is_ours(found) or found.target in ALLOWED_FROM_PACKAGES:
            continue
        defined_in = module_file(found.target)
        if defined_in is not None and defined_in.name == "__init__.py":
            broken.append(f"{found.place}: takes {found.target} from a package's __init__")
    complain(broken)


def test_imports_name_the_whole_way() -> None:
    """Relative imports would escape the plan above."""
    broken = [f"{found.place}: {found.target}" for found in ALL_IMPORTS if found.target.startswith(".")]
    complain(broken)


def test_every_tenure_import_leads_to_a_file() -> None:
    broken = [
        f"{found.place}: there is no {found.target}"
        for found in ALL_IMPORTS
        if is_ours(found) and module_file(found.target) is None and not is_compiled(found.target)
    ]
    complain(broken)


def test_the_start_up_hook_needs_the_standard_library_only() -> None:
    """It runs before the watched program; an early NumPy would make its OPENBLAS_NUM_THREADS void."""
    complain(_foreign_imports(START_UP, allowed=set()))


def test_the_recorder_needs_nothing_beyond_torch() -> None:
    """It runs inside the program, whose environment may lack NumPy and all else that we use for reports."""
    complain(_foreign_imports(RECORDER, allowed={"torch"}))


def _foreign_imports(start: str, *, allowed: set[str]) -> list[str]:
    known = sys.stdlib_module_names | allowed | {"tenure"}
    return [
        f"{found.place}: {found.target.split('.')[0]} would load inside the watched program, from {start}"
        for found in imports_at_once(start)
        if found.target.split(".")[0] not in known
    ]


def imports_at_once(start: str) -> list[Import]:
    """What loads when the files below `start` are imported: their imports at module level, and theirs."""
    waiting = [file for file in source_files() if file.relative_to(PACKAGE).as_posix().startswith(start)]
    assert waiting, f"{start} has moved; name its new place here"
    seen: set[Path] = set()
    found_all = []
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for found in imports_of(file):
            if found.at_once:
                found_all.append(found)
                target = module_file(found.target) if is_ours(found) else None
                waiting += [target] if target else []
    return found_all


def test_the_demo_programs_know_nothing_of_tenure() -> None:
    broken = [found.place for file in (PACKAGE / "demos").glob("*.py") for found in imports_of(file) if is_ours(found)]
    complain(broken)


def test_the_demo_programs_with_a_remedy_of_ours_know_the_public_face_alone() -> None:
    programs = list((PACKAGE / "demos" / "with_tenure").glob("*.py"))
    inside = [found for file in programs for found in imports_of(file) if is_ours(found) and found.target != "tenure"]
    assert programs
    complain([found.place for found in inside])


def test_the_plan_would_see_an_import_inside_a_function_and_one_for_types_only() -> None:
    tree = ast.parse(
        "import os\nif TYPE_CHECKING:\n    import a\ndef f():\n    from b import c\ntry:\n    import d\n"
        "except ImportError:\n    pass\nclass K:\n    import e\n"
    )
    found = [(item.target, item.at_once) for item in _imports_below(tree, ROOT, at_once=True)]
    assert found == [("os", True), ("a", False), ("b.c", False), ("d", True), ("e", True)]
