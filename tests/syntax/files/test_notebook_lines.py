"""Lines of cells in the file of a notebook."""

import json

import pytest

from tenure.syntax.files.notebook_lines import file_lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (["a = 1\n", "b = 2"], {(2, 1): 13, (2, 2): 14}),
        (["a = ", "1\nb", " = 2\n", "c"], {(2, 1): 13, (2, 2): 14, (2, 3): 16}),
        ("a = 1\nb = 2", {(2, 1): 12, (2, 2): 12}),
        ([], {}),
    ],
)
def test_each_line_of_a_cell_has_the_line_of_the_file_that_it_begins_on(
    source: object, lines: dict[tuple[int, int], int]
) -> None:
    first = {"cell_type": "markdown", "source": ["one"], "metadata": {"source": ["a"], "t": ["b", 1]}}
    cells = [{**first, "metadata": {}}, {"outputs": [], "source": source}]
    data = json.dumps({"cells": cells, "nbformat": 4}, indent=1).encode()
    assert {place: line for place, line in file_lines(data).items() if place[0] == 2} == lines
    nested = json.dumps({"metadata": {"cells": [first]}, "cells": [first]}).encode()
    assert file_lines(nested) == {(1, 1): 1}
