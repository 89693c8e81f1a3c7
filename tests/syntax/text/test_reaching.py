from __future__ import annotations

from textwrap import dedent

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.text.reaching import reaching_lines


def reaching(text: str, line: int, *, name: str = "x", function: str = "f") -> list[int]:
    return sorted(reaching_lines(SourceFile("a.py", dedent(text)), function, name, line))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\nx = 2\nHERE\n", [2]),
        ("x = 1\nif a:\n  x = 2\nHERE\n", [1, 3]),
        ("if a:\n  x = 1\nelse:\n  x = 2\nHERE\n", [2, 4]),
        ("x = 1\nfor i in a:\n  HERE\n  x = 2\n", [1, 4]),
        ("x = 1\nfor i in a:\n  x = 2\n  HERE\n", [3]),
        ("x = 1\nfor i in a:\n  x = 2\nHERE\n", [1, 3]),
        ("x = 1\nwhile True:\n  x = 2\n  if x: break\n  x = 3\nHERE\n", [3]),
        ("for x in a:\n  HERE\n", [1]),
        ("for i in a:\n  x = 1\n  if i: continue\n  x = 2\nHERE\n", [2, 4]),
        ("x = 1\ndel x\nHERE\n", []),
        ("x = 1\nif a:\n  x = 2\n  return\nHERE\n", [1]),
        ("try:\n  x = 1\nexcept E:\n  HERE\n", [2]),
        ("x = 0\ntry:\n  x = 1\nexcept E:\n  x = 2\nelse:\n  b()\nHERE\n", [3, 5]),
        ("x = 0\ntry:\n  x = 1\nfinally:\n  HERE\n", [1, 3]),
        ("x = 0\ntry:\n  x = 1\nfinally:\n  b()\nHERE\n", [3]),
        ("with a as x:\n  HERE\n", [1]),
        ("match a:\n  case [x]:\n    pass\n  case _:\n    x = 1\nHERE\n", [2, 5]),
        ("try:\n  a()\nexcept E as x:\n  HERE\n", [3]),
        ("a((x := 1))\nHERE\n", [1]),
        ("x = 1\n[x for x in a]\nHERE\n", [1]),
        ("x = 1\ndef x(): ...\nHERE\n", [2]),
        ("import x.y\nHERE\n", [1]),
        ("x += 1\nHERE\n", [1]),
        ("x = HERE\n", []),
    ],
)
def test_the_bindings_in_force_at_a_line(text: str, expected: list[int]) -> None:
    here = next(n for n, line in enumerate(text.splitlines(), start=1) if "HERE" in line)
    body = "def f(a):\n" + "".join(f"  {line}\n" for line in text.splitlines())

    assert reaching(body, here + 1) == [line + 1 for line in expected]


def test_a_parameter_is_bound_at_the_def_line() -> None:
    assert reaching("@d\ndef f(x):\n  a()\n", 3) == [2]


def test_the_module_is_a_scope_of_its_own() -> None:
    assert reaching("x = 1\ndef f():\n  x = 2\na()\n", 4, function="<module>") == [1]


def test_of_two_functions_of_one_name_the_line_decides() -> None:
    text = "if a:\n  def f():\n    x = 1\n    b()\nelse:\n  def f():\n    x = 2\n    b()\n"

    assert (reaching(text, 4), reaching(text, 8)) == ([3], [7])


def test_an_unknown_function_gives_nothing() -> None:
    assert reaching("x = 1\n", 1, function="g") == []


def test_statements_that_leave_a_variable_alone_are_passed_over_and_those_that_leave_the_loop_are_not() -> None:
    text = "def f(rows):\n    v = 0\n    for row in rows:\n        v = 1\n        if row:\n            break\n"
    text += "".join(f"        a{n} = row\n" for n in range(12)) + "        v = 2\n    return v\n"
    source = SourceFile("f.py", text)
    assert reaching_lines(source, "f", "v", 20) == {2, 4, 19}
