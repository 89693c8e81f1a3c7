from __future__ import annotations

import pytest

from heaps import census, node_named
from tenure.analysis.heap.graph import build_graph
from tenure.analysis.own_types import with_own_types
from tenure.model.source import SourceFile

PIPES = "class Pipe:\n    pass\n\n\nclass Map(Pipe):\n    class Item:\n        pass\n"


@pytest.mark.parametrize(
    ("type_name", "path", "own", "library"),
    [
        ("pipes.Map", "/home/me/speech/pipes.py", True, False),
        ("pipes.Map.Item", "C:\\speech\\pipes.py", True, False),
        ("pipes.Filter", "/home/me/speech/pipes.py", False, True),
        ("pipes.Map", "/home/me/speech/tools/pipe.py", False, True),
        ("datasets.audio.Map", "/home/me/datasets/audio.py", True, False),
        ("datasets.audio.Map", "/home/me/other/audio.py", False, True),
        ("datasets.Map", "/home/me/datasets/__init__.py", True, False),
        ("model.Map", "/home/me/model.py", False, False),
        ("collections.Map", "/home/me/collections.py", False, False),
    ],
    ids=["a file", "inside a class", "no such class", "another file", "in a folder", "another folder", "of a package",
         "no library's name", "the interpreter's own"],
)  # fmt: skip
def test_types_of_the_program_in_a_module_with_the_name_of_a_library(
    type_name: str, path: str, own: bool, library: bool
) -> None:
    made = census(f"main.stage -> {type_name}#m -> .fn tensor 4MiB")
    sources = [SourceFile(path, PIPES), SourceFile("/lib/python3/pipes.py", PIPES, origin="library")]

    (told,) = with_own_types([made], sources)

    assert told.own_types == (frozenset({type_name}) if own else frozenset())
    assert bool(build_graph(told).library[node_named(told, "m")]) is library


def test_a_class_of_a_librarys_file_is_the_librarys() -> None:
    made = census("main.stage -> pipes.Map#m -> .fn tensor 4MiB")

    assert list(with_own_types([made], [SourceFile("/lib/python3/pipes.py", PIPES, origin="library")])) == [made]
