from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.line_edits import apply_edits
from tenure.syntax.edits.weak_links import bind_weakly, close_weakly, refer_weakly


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


def bound(statement: str) -> list[str]:
    methods = "    def tick(self, x):\n        pass\n\n    @property\n    def size(self):\n        return 1\n"
    source = source_of(
        f"import functools, weakref\nclass A:\n{methods}\n    def f(self):\n        {statement}  # here\n"
    )
    return changes(source, bind_weakly(source, line_of(source), "b"))


@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        ("self.b = self.tick", "self.b = functools.partial(type(self).tick, weakref.proxy(self))"),
        ("self.b = {1: self.tick}", "self.b = {1: functools.partial(type(self).tick, weakref.proxy(self))}"),
        ("self.b = Timer(3, self.tick)", "self.b = Timer(3, functools.partial(type(self).tick, weakref.proxy(self)))"),
        ("self.b = lambda: self.size", "self.b = lambda self=weakref.proxy(self): self.size"),
        ("self.b = [lambda x, y=1: self.tick(x)]", "self.b = [lambda x, y=1, self=weakref.proxy(self): self.tick(x)]"),
    ],
)
def test_functions_that_an_object_keeps_do_not_keep_it(statement: str, changed: str) -> None:
    assert bound(statement) == [f"- {statement}  # here", f"{changed}  # here"]


@pytest.mark.parametrize(
    "statement",
    [
        "self.b = self.tick(1)",
        "self.b = self.size",
        "self.b = self.other",
        "self.b = lambda x: x",
        "self.b = lambda *x: self",
    ],
)
def test_what_is_called_at_once_or_does_not_lead_back_stays(statement: str) -> None:
    assert bound(statement) == []


def test_an_inner_function_gets_its_object_weakly_and_the_imports_are_added() -> None:
    source = source_of("""
    import torch

    class A:
        def tick(self):
            pass

        def f(self, layer):
            def hook(module, inputs):
                self.seen += 1

            self.hooks = layer.register_hook(hook), layer.register_hook(self.tick)  # here
    """)

    assert set(changes(source, bind_weakly(source, line_of(source), "hooks"))) == {
        "- def hook(module, inputs):",
        "def hook(module, inputs, self=weakref.proxy(self)):",
        "- self.hooks = layer.register_hook(hook), layer.register_hook(self.tick)  # here",
        "self.hooks = layer.register_hook(hook), "
        "layer.register_hook(functools.partial(type(self).tick, weakref.proxy(self)))  # here",
        "import functools",
        "import weakref",
    }


WATCH = """
import weakref
class Member:
    def watch(self):
        def {taken}:  # here
            {body}
        self.act.register_forward_hook(count)
"""


@pytest.mark.parametrize(
    ("taken", "body", "after"),
    [
        (
            "count(module, output)",
            "self.n = output.sum()",
            "def count(module, output, self=weakref.proxy(self)):  # here",
        ),
        ("count(module, n=1)", "self.n = n", "def count(module, n=1, self=weakref.proxy(self)):  # here"),
        ("count(module, output)", "print(output)", None),
        ("count(*given)", "self.n = given", None),
        ("other(module)", "self.n = module", None),
    ],
)
def test_a_function_of_a_method_takes_its_object_weakly(taken: str, body: str, after: str | None) -> None:
    source = source_of(WATCH.format(taken=taken, body=body))

    assert changes(source, close_weakly(source, line_of(source), "count"))[1:] == ([after] if after else [])
