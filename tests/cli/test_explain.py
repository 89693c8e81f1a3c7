from __future__ import annotations

from pathlib import Path

import pytest

from tenure.cli.explain import PAGES, find_page, list_rules
from tenure.cli.main import run_command_line
from tenure.errors import UsageError


@pytest.mark.parametrize("asked", ["TN102", "tn102", "102", "graph-held-over-forward", " TN102 "])
def test_a_rule_is_found_by_code_number_or_name(asked: str, tmp_path: Path) -> None:
    for name in ("TN101-loss-kept-with-graph.md", "TN102-graph-held-over-forward.md"):
        (tmp_path / name).write_text(name)
    assert find_page(asked, pages=tmp_path) == tmp_path / "TN102-graph-held-over-forward.md"


def test_an_unknown_rule_lists_the_codes_there_are(tmp_path: Path) -> None:
    (tmp_path / "TN101-a.md").write_text("")
    (tmp_path / "TN900-b.md").write_text("")
    with pytest.raises(UsageError, match=r"^there is no rule 'TN1'; there are: TN101, TN900$"):
        find_page("TN1", pages=tmp_path)


def test_without_a_code_each_rule_has_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "TN101-kept.md").write_text("# TN101 kept\n\nA loss stays.\n\n## What happens\n")
    (tmp_path / "TN900-unexplained.md").write_text("# TN900 unexplained\n\nSomething grows.\n")
    list_rules(pages=tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        "TN101  kept                              A loss stays.",
        "TN900  unexplained                       Something grows.",
    ]


def test_the_command_alone_lists_every_installed_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["explain"]) == 0
    codes = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert codes == [page.name[:5] for page in sorted(PAGES.glob("TN*.md"))]


@pytest.mark.parametrize("page", sorted(PAGES.glob("TN*.md")), ids=lambda page: page.stem)
def test_every_installed_page_is_printed_as_it_is_into_a_pipe(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["explain", page.stem[:5]]) == 0
    assert capsys.readouterr() == (page.read_text(encoding="utf-8"), "")


def test_the_documentation_shows_the_installed_pages() -> None:
    assert (Path(__file__).parents[2] / "docs" / "rules").resolve() == PAGES
