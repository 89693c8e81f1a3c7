from __future__ import annotations

import pytest

from tenure.analysis.sites.binding_sites import resolve_sites
from tenure.analysis.sites.cells import other_cells
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference


def sources(*paths: str) -> dict[str, SourceFile]:
    """Files of the user's, each with a text of its own."""
    return {path: SourceFile(path, f"x = '{path}'\n", "yours") for path in paths}


@pytest.mark.parametrize(
    ("path", "beside"),
    [
        ("<cell-input-7>", ["<cell-input-2>"]),
        ("<ipython-input-3-4f1cab90>", ["<ipython-input-11-9d0e22c7>"]),
        ("/tmp/ipykernel_4711/3844.py", ["/tmp/ipykernel_4711/99.py"]),
        ("/home/user/step_1.py", []),
        ("<string>", []),
    ],
)
def test_cells_are_known_by_names_that_differ_in_their_numbers(path: str, beside: list[str]) -> None:
    others = ("<cell-input-2>", "<ipython-input-11-9d0e22c7>", "/tmp/ipykernel_4711/99.py", "/home/user/step_2.py")
    given = sources(path, *others, "<stdin>")

    assert [other for other, _ in other_cells(path, given)] == beside


def test_a_cell_that_is_run_again_and_again_is_one() -> None:
    given = {f"<cell-{n}>": SourceFile(f"<cell-{n}>", text, "yours") for n, text in enumerate("aabba")}

    assert [other for other, _ in other_cells("<cell-4>", given)] == ["<cell-2>"]


def test_a_global_that_a_function_of_another_cell_fills_is_found_there() -> None:
    defined = "def fit(x):\n    history.append(x)\n"
    given = {
        "<cell-1>": SourceFile("<cell-1>", defined, "yours"),
        "<cell-9>": SourceFile("<cell-9>", "history = []\nfor x in xs:\n    fit(x)\n", "yours"),
        "<cell-12>": SourceFile("<cell-12>", "fit(x)\n", "yours"),
    }
    sites = [resolve_sites(the_history(seen_from), given, growing=True) for seen_from in ("<cell-9>", "<cell-12>")]

    assert sites == [(SourceLocation("<cell-1>", 2, "fit"),)] * 2


def test_a_cell_that_fills_what_another_has_bound_is_found() -> None:
    given = {
        "<cell-1>": SourceFile("<cell-1>", "history = []\n", "yours"),
        "<cell-9>": SourceFile("<cell-9>", "history.append(fit())\n", "yours"),
    }

    assert resolve_sites(the_history("<cell-9>"), given, growing=True) == (SourceLocation("<cell-9>", 1),)


def the_history(seen_from: str) -> HoldingReference:
    """A list in the session's namespace, which went by this cell at the census."""
    return HoldingReference(
        kind="global",
        name="history",
        expression="history[*]",
        scope_file=seen_from,
        scope_function="<module>",
        element=True,
        container_type="list",
    )
