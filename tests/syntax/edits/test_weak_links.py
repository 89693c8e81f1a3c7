from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.line_edits import apply_edits
from tenure.syntax.edits.weak_links import refer_weakly


def test_an_owner_is_referred_to_weakly_and_the_import_added() -> None:
    source = source_of('''
    """A trainer."""
    from __future__ import annotations
    import torch

    class Callback:
        def attach(self, trainer):
            self.trainer = trainer  # here
    ''')

    assert (
        apply_edits(source.text, refer_weakly(source, line_of(source), "trainer"))
        == source_of('''
    """A trainer."""
    from __future__ import annotations
    import weakref
    import torch

    class Callback:
        def attach(self, trainer):
            self.trainer = weakref.proxy(trainer)  # here
    ''').text
    )


def test_an_import_that_is_there_stays() -> None:
    source = source_of("import os, weakref\nclass A:\n    def f(self, b):\n        self.b = b  # here\n")

    assert changes(source, refer_weakly(source, 4, "b")) == [
        "- self.b = b  # here",
        "self.b = weakref.proxy(b)  # here",
    ]


@pytest.mark.parametrize("given", ["b, parent=None", "*, parent=None", "parent: C | None = None, b=1"])
def test_an_owner_that_need_not_be_there_is_asked_for(given: str) -> None:
    source = source_of(f"import weakref\nclass A:\n    def f(self, {given}):\n        self.p = parent  # here\n")

    assert changes(source, refer_weakly(source, 4, "p")) == [
        "- self.p = parent  # here",
        "self.p = weakref.proxy(parent) if parent is not None else None  # here",
    ]


@pytest.mark.parametrize("statement", ["self.b = B()", "self.b[0] = b", "b = c", "self.b, self.c = f()"])
def test_only_a_plain_attribute_that_is_given_a_variable(statement: str) -> None:
    source = source_of(f"class A:\n    def f(self, b, c):\n        {statement}  # here\n")

    assert refer_weakly(source, 3, "b") == ()
