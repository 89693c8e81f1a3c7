from __future__ import annotations

import ast
from collections.abc import Callable
from textwrap import dedent

import pytest

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import apply_edits
from tenure.syntax.edits.statement_edits import (
    decorate,
    put_rest_under,
    remove_decorator,
    remove_statement,
    set_argument,
    swap_lines,
)


def statement_at(source: SourceFile, line: int) -> ast.stmt:
    found = [node for node in ast.walk(ast.parse(source.text)) if isinstance(node, ast.stmt) and node.lineno == line]
    return found[-1]


def call_in(source: SourceFile) -> ast.Call:
    return next(node for node in ast.walk(ast.parse(source.text)) if isinstance(node, ast.Call))


def edited(text: str, make: Callable[[SourceFile], tuple[Edit, ...]]) -> str | None:
    source = SourceFile("t.py", text)
    edits = make(source)
    return apply_edits(text, edits) if edits else None


@pytest.mark.parametrize(
    ("text", "line", "after"),
    [
        ("a()\nb()  # why\nc()\n", 2, "a()\nc()\n"),
        ("if a:\n\tb()  # why\nc()\n", 2, "if a:\n\tpass  # why\nc()\n"),
        ("if a:\n    # said\n    b()\n    c()\n", 3, "if a:\n    # said\n    c()\n"),
        ("if a:\n    c()\n\n    # said\n    b()\nd()\n", 5, "if a:\n    c()\n\n    # said\nd()\n"),
        ("a(); b()\n", 1, "a()\n"),
        ("if a: b()\n", 1, None),
        ("é = (\n  1)\nb(\n  é,\n)\nc()", 3, "é = (\n  1)\nc()"),
    ],
)
def test_a_statement_is_taken_out_and_what_people_wrote_around_it_stays(text: str, line: int, after: str) -> None:
    assert edited(text, lambda source: remove_statement(source, statement_at(source, line))) == after


LOOP = """\
for a in b:
    # look
    hook(a)  # now
    x = '''
  as is
'''

    # then
    f(
        x)
end()
"""
UNDER = """\
for a in b:
    # look
    with hook(a):  # now
        x = '''
  as is
'''

        # then
        f(
            x)
end()
"""


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (LOOP, UNDER),
        ("def f():\n\ta\n\thook()\n\treturn 1\n", "def f():\n\ta\n\twith hook():\n\t\treturn 1\n"),
        ("def f():\n    a\n    b\n    hook()\n", None),
    ],
)
def test_what_follows_a_call_is_put_under_it(text: str, after: str | None) -> None:
    line = next(number for number, each in enumerate(text.split("\n"), start=1) if "hook(" in each)
    assert edited(text, lambda source: put_rest_under(source, statement_at(source, line))) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("if a:\n    b()  # b\n    c()\n", "if a:\n    c()\n    b()  # b\n"),
        ("if a:\n    b(); d()\n    c()\n", None),
        ("if a:\n    b()\n    c(\n)\n", None),
        ("if a:\n    b()\nc()\n", None),
        ("if a:\n    b()\n\n    c()\n", None),
    ],
)
def test_a_statement_and_the_next_line_change_places(text: str, after: str | None) -> None:
    assert edited(text, lambda source: swap_lines(source, statement_at(source, 2))) == after


@pytest.mark.parametrize(
    ("text", "value", "after"),
    [
        ("f()\n", "True", "f(a=True)\n"),
        ("f(x)\n", "True", "f(x, a=True)\n"),
        ("f(a=False, b=1)\n", "True", "f(a=True, b=1)\n"),
        ("f(x, a=False)  # why\n", None, "f(x)  # why\n"),
        ("f(a=False, b=1)\n", None, "f(b=1)\n"),
        ("f(a=False)\n", None, "f()\n"),
        ("é = 'é'; f(\n    x,  # x\n    a=False,\n)\n", "None", "é = 'é'; f(\n    x,  # x\n    a=None,\n)\n"),
    ],
)
def test_an_argument_is_given_changed_and_taken_away(text: str, value: str | None, after: str) -> None:
    assert edited(text, lambda source: set_argument(source, call_in(source), "a", value)) == after


CLASS = dedent("""\
    class A:
        @property
        @cache(
            1)  # why
        def f(self):
            return 1
""")


def test_a_decorator_is_put_right_above_the_function_and_taken_out_with_its_lines() -> None:
    def function(source: SourceFile) -> ast.FunctionDef:
        return next(node for node in ast.walk(ast.parse(source.text)) if isinstance(node, ast.FunctionDef))

    more = edited(CLASS, lambda source: decorate(source, function(source), "torch.no_grad()"))
    less = edited(CLASS, lambda source: remove_decorator(source, function(source).decorator_list[1]))
    assert more == CLASS.replace("    def f", "    @torch.no_grad()\n    def f")
    assert less == CLASS.replace("    @cache(\n        1)  # why\n", "")


def test_what_is_nested_deeper_than_people_write_is_left_alone() -> None:
    text = "a()\n" + "x = " + "+".join(["1"] * 500) + "\n"
    assert edited(text, lambda source: remove_statement(source, statement_at(source, 1))) is None
