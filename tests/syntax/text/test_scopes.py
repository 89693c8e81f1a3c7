from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.scopes import (
    MODULE,
    Loop,
    Scope,
    all_scopes,
    class_bases,
    definitions,
    enclosing_function,
    loops_around,
    names_outliving_iteration,
    parse,
    text_around,
)


def source(text: str) -> SourceFile:
    return SourceFile("a.py", dedent(text))


def test_a_file_that_cannot_be_parsed_gives_one_line_with_its_place() -> None:
    with pytest.raises(SourceError, match=r"^bad\.py:2: cannot be parsed: [^\n]+$"):
        parse(SourceFile("bad.py", "x = 1\ndef f(:\n"))


def test_null_bytes_give_a_source_error() -> None:
    with pytest.raises(SourceError, match=r"^bad\.py:?\d*: cannot be parsed: [^\n]+$"):
        parse(SourceFile("bad.py", "x = '\0'\n"))


def test_the_same_text_is_parsed_once() -> None:
    assert parse(source("x = 1")) is parse(source("x = 1"))


def test_definitions_have_the_names_python_gives_them() -> None:
    found = definitions(
        source("""\
        class Outer:
            class Inner:
                @functools.lru_cache(maxsize=3)
                def method(self):
                    global total
                    def deep():
                        nonlocal self
        if True:
            async def later(): ...
        """)
    )

    assert found == (
        Scope("class", "Outer", 1, 7, 1),
        Scope("class", "Outer.Inner", 2, 7, 2),
        Scope("function", "Outer.Inner.method", 4, 7, 3, ("functools.lru_cache",), frozenset({"total"})),
        Scope("function", "Outer.Inner.method.<locals>.deep", 6, 7, 6, (), frozenset(), frozenset({"self"})),
        Scope("function", "later", 9, 9, 9),
    )


def compiled_names(code: types.CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant.co_qualname
            yield from compiled_names(constant)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code objects have no qualified name before 3.11")
@pytest.mark.parametrize("module", ["dataclasses", "functools", "argparse", "asyncio.tasks", "inspect"])
def test_scopes_are_named_as_the_compiler_names_them(module: str) -> None:
    path = Path(ast.__file__).parent / (module.replace(".", "/") + ".py")
    text = path.read_text(encoding="utf-8")

    compiled = {name for name in compiled_names(compile(text, module, "exec")) if "<generic" not in name}

    assert compiled <= {scope.qualname for scope in all_scopes(SourceFile(str(path), text))}


def test_the_enclosing_function_of_each_line() -> None:
    text = source("""\
        x = 1
        @decorate
        def f():
            y = 2
            class C:
                z = 3
        w = 4
        """)

    assert [enclosing_function(text, line) for line in range(1, 8)] == [
        MODULE,
        "f",
        "f",
        "f",
        "f.<locals>.C",
        "f.<locals>.C",
        MODULE,
    ]


def test_loops_around_a_line_stop_at_the_function() -> None:
    text = source("""\
        for a in b:
            while c:
                d()
            def f():
                for e in g:
                    h()
        else:
            i()
        """)

    around = [loops_around(text, line) for line in (1, 3, 6, 8)]

    assert around == [(), (Loop(1, 8, 2, 6), Loop(2, 3, 3, 3)), (Loop(5, 6, 6, 6),), ()]


def test_bases_of_classes_by_qualified_name() -> None:
    found = class_bases(
        source("""\
        class A(nn.Module, Generic[T], metaclass=M):
            class B(A): ...
        def f():
            class C: ...
        """)
    )

    assert found == {"A": ("nn.Module", "Generic"), "A.B": ("A",), "f.<locals>.C": ()}


def test_names_that_outlive_an_iteration() -> None:
    tree = parse(
        source("""\
        for i, batch in enumerate(loader):
            loss = model(batch)
            [y for y in loss]
            if (best := loss) > 0:
                keep = loss
            try:
                import late as later
            except ValueError as error:
                pass
            gone = 1
            none = 2
            del gone
            none = None
            def inner():
                hidden = 1
        """)
    )
    loop = tree.body[0]
    assert isinstance(loop, ast.For)

    assert names_outliving_iteration(loop) == {"i", "batch", "loss", "best", "keep", "later", "inner"}


def test_the_text_around_a_line_counts_lines_as_python_does() -> None:
    source = SourceFile("a.py", "x = 1\n\x0c\ndef f():\n    return x\n")
    assert text_around(source, 4) == "def f():\n    return x"
