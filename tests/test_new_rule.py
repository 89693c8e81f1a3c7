"""scripts/new_rule.py: what it writes passes every test of a page but the one that runs its program."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tenure.model.rule import Rule
from test_rule_pages import HEADINGS, count_changed_lines, read_programs, split_page

SCRIPT = Path(__file__).parent.parent / "scripts" / "new_rule.py"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(folder: Path, code: str = "TN302", name: str = "queue-never-drained") -> tuple[Path, Path]:
    (folder / "pages").mkdir(exist_ok=True)
    return load(SCRIPT).write_rule(code, name, "Nobody reads the queue.", rules=folder)


def test_the_rule_is_a_rule_that_claims_nothing_yet(tmp_path: Path) -> None:
    path, _ = write(tmp_path)
    module = load(path)

    assert module.RULE == Rule("TN302", "queue-never-drained", "Nobody reads the queue.", module.check_suspect)


def test_the_page_has_its_headings_a_marked_leak_and_a_small_fix(tmp_path: Path) -> None:
    _, page = write(tmp_path)
    leak, healthy, fix = read_programs(page)

    assert tuple(split_page(page.read_text())) == ("", *HEADINGS)
    assert [program.marks for program in (leak, healthy, fix)] == [[("TN302", 11)], [], []]
    assert count_changed_lines(leak.unmarked_lines, fix.unmarked_lines) == 1


@pytest.mark.parametrize(("code", "name"), [("TN302", "other-name"), ("TN303", "queue-never-drained")])
def test_nothing_is_overwritten(code: str, name: str, tmp_path: Path) -> None:
    first = {path: path.read_bytes() for path in write(tmp_path)}

    with pytest.raises(FileExistsError, match="TN302-queue-never-drained exists already"):
        write(tmp_path, code, name)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == first
