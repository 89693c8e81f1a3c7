from __future__ import annotations

import pytest

from edit_texts import changes, source_of
from tenure.syntax.edits.missing_imports import import_missing, imports


def test_what_is_missing_is_imported_in_front_of_the_first_statement_that_may_follow() -> None:
    source = source_of('"""Text."""\nfrom __future__ import annotations\nimport os\n\nx = 1\n')

    assert changes(source, import_missing(source, "os", "weakref")) == ["import weakref"]
    assert [(edit.line, edit.after) for edit in import_missing(source, "weakref")] == [(3, "import weakref")]
    assert import_missing(source, "os") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch", True),
        ("def f():\n    import torch", True),
        ("import torch as t", False),
        ("import torch.nn", False),
        ("import torch(", False),
    ],
)
def test_a_module_is_imported_under_its_own_name(text: str, expected: bool) -> None:
    assert imports(source_of(text), "torch") is expected
