from __future__ import annotations

from pathlib import Path

import pytest

from tenure.cli.explain import PAGES, find_page
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


@pytest.mark.parametrize("page", sorted(PAGES.glob("TN*.md")), ids=lambda page: page.stem)
def test_every_installed_page_is_printed_as_it_is_into_a_pipe(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["explain", page.stem[:5]]) == 0
    assert capsys.readouterr() == (page.read_text(encoding="utf-8"), "")


def test_the_documentation_shows_the_installed_pages() -> None:
    assert (Path(__file__).parents[2] / "docs" / "rules").resolve() == PAGES
