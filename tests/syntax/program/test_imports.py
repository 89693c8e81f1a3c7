from __future__ import annotations

import ast
from textwrap import dedent

from tenure.model.source import SourceFile
from tenure.syntax.program.imports import FilePlaces, Imported, imported_names
from tenure.syntax.program.program import Program


def test_import_statements_say_what_their_names_are() -> None:
    tree = ast.parse("import a.b, c.d as e\nfrom f.g import h as i, j\nfrom .k import l\nfrom .. import m\n")
    statements = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]

    assert imported_names(statements) == {
        "a": Imported("a"),
        "e": Imported("c.d"),
        "i": Imported("f.g", "h"),
        "j": Imported("f.g", "j"),
        "l": Imported("k", "l", 1),
        "m": Imported("", "m", 2),
    }


def test_a_module_is_found_by_its_path_and_a_relative_one_from_the_file_that_asks() -> None:
    places = FilePlaces(["x/pkg/__init__.py", "x/pkg/mining.py", "x/pkg/deep/mining.py", "x/train.py"])

    assert places.files_of(Imported("pkg.mining"), "x/train.py") == ["x/pkg/mining.py"]
    assert places.files_of(Imported("mining", "f"), "x/train.py") == ["x/pkg/mining.py", "x/pkg/deep/mining.py"]
    assert places.files_of(Imported("mining", "f", 1), "x/pkg/deep/net.py") == ["x/pkg/deep/mining.py"]
    assert places.files_of(Imported("mining", "f", 2), "x/pkg/deep/net.py") == ["x/pkg/mining.py"]
    assert places.files_of(Imported("pkg"), "x/train.py") == ["x/pkg/__init__.py"]
    assert [places.is_foreign(Imported(name)) for name in ("torch.optim", "pkg.mining", "train")] == [
        True,
        False,
        False,
    ]


def test_of_two_classes_of_one_name_the_imported_one_is_meant_and_of_a_foreign_one_none() -> None:
    twin = "class Bank:\n    def offer(self): pass\n"
    files = {
        "m/mining.py": twin,
        "m/mining_b.py": twin,
        "m/train.py": "from mining import Bank\nfrom torch.optim import Adam\nBank().offer()\nAdam()\n",
        "m/optim.py": "class Adam:\n    def __init__(self): pass\n",
    }
    program = Program(SourceFile(path, dedent(text)) for path, text in files.items())
    (train,) = (each for each in program.functions if each.source.path == "m/train.py")

    found = [program.called_by(call, train) for call in train.calls]

    assert [each and f"{each.source.path} {each.qualname}" for each in found] == ["m/mining.py Bank.offer", None, None]
