"""Nodes of a file by their kind."""

import ast

import pytest

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.scopes import parse
from tenure.syntax.text.tree_walks import walk


@pytest.mark.parametrize("kind", [ast.Attribute, ast.ClassDef, ast.stmt, ast.Call, ast.Raise])
def test_they_come_as_a_walk_meets_them(kind: type[ast.AST]) -> None:
    source = SourceFile("a.py", "class A:\n    def f(self):\n        return self.b.c(x.d)\nclass B: pass\ny = z.a()\n")
    assert list(nodes_of(source, kind)) == [node for node in walk(parse(source)) if isinstance(node, kind)]


def test_a_file_that_is_no_python_has_none_and_says_so() -> None:
    with pytest.raises(SourceError, match="cannot be parsed"):
        nodes_of(SourceFile("a.py", "def :"), ast.Call)
