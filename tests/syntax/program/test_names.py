from __future__ import annotations

from textwrap import dedent

from tenure.model.source import SourceFile
from tenure.syntax.program.file_walk import FileWalk
from tenure.syntax.program.functions import Class, Function
from tenure.syntax.program.names import Names


def names_of(**files: str) -> Names:
    return Names(FileWalk(SourceFile(f"{name.replace('__', '/')}.py", dedent(text))) for name, text in files.items())


def at(names: Names, path: str, qualname: str = "<module>") -> Function:
    (found,) = [each for each in names.functions if (each.source.path, each.qualname) == (path, qualname)]
    return found


def placed(found: Function | Class | None) -> str | None:
    if found is None:
        return None
    return f"{found.source.path} {found.qualname if isinstance(found, Function) else found.node.name}"


def test_a_plain_name_means_what_is_defined_inside_then_around_then_in_the_file() -> None:
    names = names_of(
        m="""
        def step(): pass
        def outer():
            def step(): pass
            def inner():
                def own(): pass
        """
    )
    inner = at(names, "m.py", "outer.<locals>.inner")

    assert placed(names.seen_from("own", inner)) == "m.py outer.<locals>.inner.<locals>.own"
    assert placed(names.seen_from("step", inner)) == "m.py outer.<locals>.step"
    assert placed(names.seen_from("step", at(names, "m.py"))) == "m.py step"
    assert placed(names.around(inner)) == "m.py outer"


def test_a_global_variable_is_found_in_the_file_that_binds_it() -> None:
    names = names_of(
        store="rows = []\n",
        train="from store import rows\nfrom store import rows as kept\nimport store as s\nown = 1\ndef f(own): pass\n",
    )
    top, function = at(names, "train.py"), at(names, "train.py", "f")
    store = at(names, "store.py")

    assert names.top_with("own", top.source) is top
    assert names.top_with("rows", top.source) is store
    assert names.top_with("other", top.source) is None
    assert [names.imported_global(each, function) for each in ("kept", "s.rows", "own", "s.other")] == [
        *(("rows", store), ("rows", store), None, None)
    ]


def test_a_function_of_a_file_goes_by_the_files_name_or_by_that_of_an_import() -> None:
    names = names_of(
        spread="def step(): pass\ndef only(): pass\n",
        other="def step(): pass\n",
        train="import other as o\nimport numpy as n\n",
    )
    near = at(names, "train.py").source

    found = [names.in_file(alias, "step", near) for alias in ("spread", "other", "o", "n", "unknown")]
    assert [placed(each) for each in found] == ["spread.py step", "other.py step", "other.py step", None, None]
    assert names.in_file("o", "only", near) is None


def test_of_several_classes_of_one_name_the_nearest_is_meant_and_none_where_two_are_as_near() -> None:
    names = names_of(
        a__model="class Net: pass\n",
        a__train="",
        b__model="class Net: pass\n",
        b__more="class Net: pass\n",
        b__train="",
    )

    assert placed(names.class_of("Net", at(names, "a/train.py").source)) == "a/model.py Net"
    assert names.class_of("Net", at(names, "b/train.py").source) is None
    assert placed(names.class_of("Net", at(names, "b/more.py").source)) == "b/more.py Net"
    assert names.class_of("Net") is None


def test_a_name_is_told_as_the_imports_of_its_file_have_it() -> None:
    names = names_of(a="import torch\nfrom torch import nn\nfrom .data import Dataset as Data\nimport x.y as z\n")
    source = at(names, "a.py").source
    asked = ("torch.nn.Module", "nn.Module", "Data", "z.Base", "Base")

    assert [names.full_name(name, source) for name in asked] == [
        "torch.nn.Module", "torch.nn.Module", ".data.Dataset", "x.y.Base", "Base",
    ]  # fmt: skip


def test_the_innermost_function_is_told_line_by_line() -> None:
    names = names_of(a="x = 1\ndef f():\n    def g():\n        return 1\n    return g\ny = 2\n")
    source = at(names, "a.py").source
    found = [names.innermost_at(source, line) for line in range(1, 8)]

    assert [each.qualname if each is not None else None for each in found] == [
        "<module>", "f", "f.<locals>.g", "f.<locals>.g", "f", "<module>", "<module>",
    ]  # fmt: skip
    assert names.innermost_at(SourceFile("b.py", ""), 1) is None
