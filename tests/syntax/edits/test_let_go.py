from __future__ import annotations

import ast

import pytest

from edit_texts import FILE, changes, line_of, source_of
from tenure.model.source import SourceFile
from tenure.syntax.edits.let_go import (
    at_end,
    drop_inner_function,
    let_go_at_end,
    let_go_at_start,
    let_go_before,
    let_go_behind_reads,
    let_go_where_it_ends,
    stores_of,
)
from tenure.syntax.edits.line_edits import apply_edits


def before(text: str, name: str) -> list[str]:
    source = source_of(text)
    return changes(source, let_go_before(source, line_of(source), name))


def behind(text: str, name: str, *, empties: bool = False) -> list[list[str]]:
    source = source_of(text)
    return [changes(source, edits) for edits in let_go_behind_reads([source], name, empties=empties)]


def test_the_value_before_goes_before_the_next_one_is_made() -> None:
    source = source_of("""
    class Trainer:
        def forward(self, batch):
            loss, self.items = self.model(batch)  # here
            return loss
    """)

    edits = let_go_before(source, 3, "items")

    assert apply_edits(source.text, edits).splitlines()[2:4] == [
        "        self.items = None",
        "        loss, self.items = self.model(batch)  # here",
    ]


@pytest.mark.parametrize(
    ("text", "name", "added"),
    [
        ("def f(net, pairs):\n    for x in pairs:\n        out = net(x)  # here\n", "out", ["out = None"]),
        ("def f(net, x):\n    out = net(x)  # here\n", "out", []),
        ("out = None\ndef f(net, x):\n    global out\n    out = net(x)  # here\n", "out", ["out = None"]),
        ("def f(net, x):\n    while x:\n        out = net(out)  # here\n", "out", []),
        ("class A:\n    def f(self):\n        self.h = self.cell(self.h)  # here\n", "h", []),
        ("class A:\n    def f(self):\n        self.h[0] = self.cell(1)  # here\n", "h", []),
        ("class A:\n    def f(self):\n        self.h += self.cell(1)  # here\n", "h", []),
        ("class A:\n    def __init__(self):\n        self.h = make()  # here\n", "h", []),
        ("class A:\n    def f(self): self.h = make()  # here\n", "h", []),
    ],
)
def test_only_where_there_is_a_value_before_that_is_not_read(text: str, name: str, added: list[str]) -> None:
    if added:
        source = source_of(text)
        assert [each.after.strip() for each in let_go_before(source, line_of(source), name) if each.after] == added
    else:
        assert before(text, name) == []


def test_an_attribute_goes_behind_the_last_statement_that_reads_it() -> None:
    assert behind(
        """
        class Pipeline:
            def __init__(self, encoder):
                self.encoder = encoder

            def embed(self, prompts):
                with no_grad():
                    parts = [self.encoder(part) for part in prompts]
                    log(self.encoder)
                return join(parts)
        """,
        "encoder",
    ) == [["self.encoder = None"]]


def test_what_is_given_back_is_computed_first() -> None:
    source = source_of("""
    class Server:
        def result(self, number):
            result = 1
            return (
                self.finished[number]
            )
    """)

    (edits,) = let_go_behind_reads([source], "finished", empties=True)

    assert (
        apply_edits(source.text, edits)
        == source_of("""
    class Server:
        def result(self, number):
            result = 1
            answer = (
                self.finished[number]
            )
            self.finished.clear()
            return answer
    """).text
    )


def test_each_function_that_reads_it_is_one_way() -> None:
    text = """
    class Probe:
        def collect(self):
            self.total += sum(self.answers.values())
        def show(self):
            print(self.answers)
        def forget(self):
            self.answers = {}
    """
    assert behind(text, "answers", empties=True) == [["self.answers.clear()"], ["self.answers.clear()"]]


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    def f(self, x):\n        self.rows.append(x)\n",
        "class A:\n    def f(self, k, x):\n        self.rows.setdefault(k, []).append(x)\n",
        "class A:\n    def f(self, k, x):\n        self.rows[k] = x\n",
        "class A:\n    def f(self):\n        yield from self.rows\n",
        "class A:\n    def f(self):\n        return lambda: self.rows\n",
        "class A:\n    def f(self, other):\n        return self.rows + other.rows\n",
        "class A:\n    def f(self):\n        if self.rows:\n            return 1\n",
        "class A:\n    def f(self): return self.rows\n",
        "class A:\n    def f(self):\n        raise ValueError(self.rows)\n",
        "def broken(:\n    rows\n",
    ],
)
def test_no_way_where_it_is_only_added_to_or_may_be_read_later(text: str) -> None:
    source = SourceFile(FILE, text)

    assert list(let_go_behind_reads([source], "rows", empties=True)) == []


def test_at_the_end_is_in_front_of_a_plain_return() -> None:
    source = source_of("""
    def f(x):
        y = g(x)
        return y
    """)
    function = ast.parse(source.text).body[0]
    assert isinstance(function, ast.FunctionDef)

    assert (
        apply_edits(source.text, at_end(source, function, "done()"))
        == source_of("""
    def f(x):
        y = g(x)
        done()
        return y
    """).text
    )


def test_assignments_to_an_attribute_are_found_in_all_files() -> None:
    source = source_of("class A:\n    def f(self):\n        self.state.output = 1\n        self.output[0] = 2\n")

    assert list(stores_of([source, SourceFile("bad.py", "(")], "output")) == [(source, 3)]


def test_an_attribute_may_go_where_the_method_that_sets_it_ends() -> None:
    text = """
    class Trainer:
        def __init__(self, models):
            self.reward = models["reward"]  # here
            self.score = self.pick()
    """
    source = source_of(text)

    assert apply_edits(source.text, let_go_at_end(source, 3, "reward")).splitlines()[-1] == "        self.reward = None"
    assert let_go_at_end(source, 4, "score") == ()
    assert let_go_at_end(source_of("def f(x):\n    x.a = 1\n    g(x)\n"), 2, "a") == ()


def test_an_attribute_may_go_where_the_method_that_sets_it_begins() -> None:
    text = """
    class Loop:
        def step(self, batch):
            \"\"\"One step.\"\"\"
            answer = self.model(batch)
            self.state.answer = answer  # here
    """
    source = source_of(text)

    assert changes(source, let_go_at_start(source, line_of(source), "answer")) == ["self.state.answer = None"]
    first = source_of(text.replace("self.model(batch)", "self.model(batch, self.state.answer)"))
    assert let_go_at_start(first, line_of(first), "answer") == ()
    carried = source_of(text.replace("= answer  # here", "= f(self.state.answer)  # here"))
    assert let_go_at_start(carried, line_of(carried), "answer") == ()
    made = source_of(text.replace("def step", "def __init__"))
    assert let_go_at_start(made, line_of(made), "answer") == ()


@pytest.mark.parametrize(("end", "line"), [("unload", 6), ("__exit__", 6), ("drop", None)])
def test_an_attribute_may_go_in_the_method_that_lets_go_of_things(end: str, line: int | None) -> None:
    source = source_of(f"""
    class Processor:
        def __init__(self, components):
            self.encode = build(components)  # here

        def {end}(self):
            return None
    """)

    found = let_go_where_it_ends(source, 3, "encode")

    assert [(edit.line, edit.after) for edit in found] == ([(line, "        self.encode = None")] if line else [])
    assert let_go_where_it_ends(source, 3, "other") == ()


@pytest.mark.parametrize(
    "text",
    [
        "def f(net, loss):\n    loss.backward()\n    return [p.grad for p in net.parameters()]\n",
        "import torch\n\ndef f(loss, inputs):\n    return torch.autograd.grad(loss, inputs)\n",
    ],
)
def test_variables_of_comprehensions_and_modules_are_not_set(text: str) -> None:
    assert behind(text, "grad") == []


@pytest.mark.parametrize(
    ("end", "added"),
    [
        ("return stack(leaves)", ["del descend"]),
        ("descend(points)", ["del descend"]),
        ("return descend(points)", ["result = descend(points)", "del descend", "return result"]),
    ],
)
def test_a_function_that_calls_itself_is_deleted_where_the_one_around_it_ends(end: str, added: list[str]) -> None:
    text = f"""
    def pool(points):
        leaves = []
        def descend(index):  # here
            descend(index[1:])
        {end}
    """
    source = source_of(text)

    assert changes(source, drop_inner_function(source, line_of(source), "descend"))[-len(added) :] == added


def test_a_function_that_does_not_call_itself_stays() -> None:
    source = source_of("def pool(points):\n    def first():  # here\n        return points[0]\n    return first()\n")

    assert drop_inner_function(source, line_of(source), "first") == ()


def test_an_attribute_of_several_objects_goes_of_all_of_them() -> None:
    text = "def f(self, loss):\n    loss.backward()\n    step = self.w.grad + self.b.grad\n    self.go(step)\n"

    assert behind(text, "grad") == [["self.w.grad = self.b.grad = None"]]
    assert behind(text, "grad", empties=True) == []
