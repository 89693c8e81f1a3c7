import sys
from textwrap import dedent

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.text.later_reads import is_handed_on, is_read_later, outlives_turns, runs_in_loop

LOOP = """
def main(steps):
    state = load()
    model = build(state)
    for _ in range(steps):
        step(model)
    {after}
"""


def read_later(text: str, name: str, line: int, *, function: str = "main", waits: bool = False) -> bool:
    return is_read_later(SourceFile("a.py", dedent(text)), function, name, line, waits=waits)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("return model", False),
        ("return state", True),
        ("del state", False),
        ("state = None", False),
        ("state += 1", True),
        ("return locals()", True),
        ("return lambda: state", True),
        ("return [state for _ in model]", True),
    ],
)
def test_what_comes_after_the_loop_decides(after: str, expected: bool) -> None:
    assert read_later(LOOP.format(after=after), "state", 6) is expected


SHARDS = """
def main(shards):
    for shard in shards:
        packed{also} = shard.read()
        whole = unpack(packed)
        for tile in whole:
            yield tile
        {after}
"""


@pytest.mark.parametrize(
    ("also", "after", "expected"),
    [
        ("", "done(shard)", False),
        (", rest", "done(shard)", False),
        ("", "done(packed)", True),
        (" = last", "last = packed", True),
        ("", "shards.done = lambda: packed", True),
    ],
)
def test_what_each_turn_of_an_outer_loop_binds_anew_is_not_read_by_the_next(
    also: str, after: str, expected: bool
) -> None:
    assert read_later(SHARDS.format(also=also, after=after), "packed", 7) is expected


@pytest.mark.parametrize("line", ["packed += 1", "packed = packed + 1", "if shard: packed = 1", "packed[0] = 1"])
def test_a_turn_that_begins_with_the_value_of_the_one_before_reads_it(line: str) -> None:
    text = SHARDS.replace("packed{also} = shard.read()", line).format(after="done(shard)")

    assert read_later(text, "packed", 7)


def test_a_variable_of_the_outer_loop_itself_is_bound_by_each_turn() -> None:
    text = SHARDS.format(also="", after="pass")

    assert not read_later(text, "shard", 7)
    assert read_later(text, "whole", 7)
    assert read_later(text.replace("for shard in shards", "while more(packed)"), "packed", 7)


ROLLOUTS = """
def main(prompts):
    for prompt in prompts:
        with quiet() as notes:
            outputs = policy(prompt)
            rewards = score(out for out in outputs)
            notes += [rewards]
        yield {{
            "rewards": rewards,
        }}
        {after}
"""


@pytest.mark.parametrize(
    ("name", "after", "expected"),
    [
        ("outputs", "pass", False),
        ("outputs", "done(outputs)", True),
        ("rewards", "pass", True),
        ("prompt", "pass", False),
        ("outputs", "prompts.again = (len(outputs) for _ in prompts)", True),
    ],
)
def test_a_generator_that_waits_reads_on_from_there(name: str, after: str, expected: bool) -> None:
    text = ROLLOUTS.format(after=after)

    assert read_later(text, name, 8, waits=True) is expected
    assert read_later(text, name, 8)


@pytest.mark.parametrize(("name", "expected"), [("state", False), ("model", True), ("steps", True)])
def test_a_loop_around_the_line_runs_again_from_its_head(name: str, expected: bool) -> None:
    assert read_later(LOOP.format(after="return 1"), name, 6) is expected


def test_the_statement_that_is_being_executed_may_still_use_its_names() -> None:
    text = "def main():\n    state = load()\n    fit(\n        state)\n"

    assert read_later(text, "state", 3)


@pytest.mark.parametrize(
    "inner", ["def later():\n    return state\n", "class Later:\n    kept = state\n", "later = (state for _ in [])\n"]
)
def test_a_function_defined_before_may_run_at_any_time(inner: str) -> None:
    text = f"state = load()\n{inner}while True:\n    step()\n"

    assert read_later(text, "state", text.count("\n"), function="<module>")


def test_a_global_that_functions_do_not_name_is_free() -> None:
    text = "state = load()\ndef f():\n    return other\nwhile True:\n    f()\n"

    assert not read_later(text, "state", 5, function="<module>")


@pytest.mark.parametrize(
    ("text", "function", "line"),
    [
        ("def main(:\n", "main", 1),
        ("def other():\n    state = 1\n", "main", 2),
        ("def main():\n    pass\n", "main", 9),
        ("def main():\n    global state\n    state = 1\n    step()\n", "main", 4),
    ],
)
def test_what_cannot_be_told_counts_as_read(text: str, function: str, line: int) -> None:
    assert read_later(text, "state", line, function=function)


@pytest.mark.parametrize(("line", "expected"), [(3, False), (5, True), (6, True), (7, False)])
def test_a_line_runs_in_a_loop_between_its_head_and_its_end(line: int, expected: bool) -> None:
    source = SourceFile("a.py", LOOP.format(after="return model"))
    assert runs_in_loop(source, "main", line) is expected


def test_a_function_that_is_not_known_may_be_in_a_loop() -> None:
    assert runs_in_loop(SourceFile("a.py", "def other():\n    pass\n"), "main", 1)
    assert runs_in_loop(SourceFile("a.py", "def ("), "main", 1)


def test_a_parameter_is_its_callers_to_drop() -> None:
    assert read_later("def main(state):\n    model = build(state)\n    while True:\n        step(model)\n", "state", 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def main():\n    parts = read()\n    use(\n        parts[0])\n    return 1\n", False),
        ("def main():\n    parts = read()\n    use(\n        parts[0])\n    return parts\n", True),
        ("def main():\n    parts = read()\n    while wanted():\n        use(parts[0])\n", True),
        ("def main():\n    parts = read()\n    if use(parts[0]):\n        return parts\n", True),
    ],
)
def test_what_a_statement_reads_that_has_called_already_is_read(text: str, expected: bool) -> None:
    line = 4 if "while" in text else 3

    assert is_read_later(SourceFile("a.py", text), "main", "parts", line, called=True) is expected
    assert is_read_later(SourceFile("a.py", text), "main", "parts", line) is True


RETURNING = """
def forward(self, x):
    k, v = self.project(x)
    y = self.attend(k, v)
    if self.training:
        y = self.drop(y)
        return y
    {rest}
"""


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("return y, (k, v)", True),
        ("return k", True),
        ("yield {'keys': k}", True),
        ("return Output(y, past=[k])", True),
        ("return k if self.keeps else None", True),
        ("return self.out(k)", False),
        ("return k.shape", False),
        ("return k[0]", False),
        ("return y", False),
        ("return", False),
        ("k = self.norm(y); return k", False),
        ("del k; return y", False),
        ("raise ValueError; return k", False),
    ],
)
def test_a_variable_is_handed_on_where_its_own_value_is_returned_from_here_on(rest: str, expected: bool) -> None:
    source = SourceFile("a.py", dedent(RETURNING.format(rest=rest)))

    assert is_handed_on(source, "forward", "k", 4) is expected


def test_what_another_branch_or_another_function_returns_is_not_handed_on_from_here() -> None:
    branches = SourceFile("a.py", dedent(RETURNING.format(rest="return k")))

    assert not is_handed_on(branches, "forward", "k", 6)
    assert not is_handed_on(branches, "forward", "y", 6)
    assert is_handed_on(branches, "forward", "y", 7)
    assert not is_handed_on(branches, "backward", "k", 4)
    assert not is_handed_on(SourceFile("a.py", "def forward(:"), "forward", "k", 1)


TURNS = """\
def fit(loader, given):
    meter = Meter()
    for epoch in range(3):
        counts = Counts()
        for batch in loader:
            outputs = meter(batch)
            given.write(outputs)
    meter.close()
"""


@pytest.mark.parametrize(
    ("name", "line", "outlives"),
    [("meter", 6, True), ("counts", 6, False), ("outputs", 7, False), ("given", 7, False), ("meter", 8, False)],
)
def test_a_variable_that_no_turn_of_the_loops_around_binds_outlives_them(name: str, line: int, outlives: bool) -> None:
    assert outlives_turns(SourceFile("a.py", TURNS), "fit", name, line) is outlives


def test_of_a_function_that_is_not_known_no_variable_outlives_its_turns() -> None:
    assert not outlives_turns(SourceFile("a.py", TURNS), "other", "meter", 6)
    assert not outlives_turns(SourceFile("a.py", "def fit(:"), "fit", "meter", 1)


def test_what_a_match_statement_guards_is_read_after_its_call() -> None:
    text = "def f():\n    x = make()\n    match step():\n        case 1:\n            use(x)\n"
    assert is_read_later(SourceFile("a.py", text), "f", "x", 3, called=True)


def test_a_sum_of_more_terms_than_python_calls_may_read_anything() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        text = f"def f():\n    x = make()\n    y = {' + '.join(['a'] * 1500)}\n    use(y)\n"
        assert is_read_later(SourceFile("a.py", text), "f", "x", 3)
    finally:
        sys.setrecursionlimit(limit)
