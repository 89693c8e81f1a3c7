from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.edits.bounded_caches import bound_cache, cache_makers, compute_at_each_read, drop_cache, reads_caches
from tenure.syntax.edits.line_edits import apply_edits


def change(text: str, *, methods: bool = True) -> str:
    line = next((number for number, line in enumerate(text.splitlines(), 1) if "def pairs" in line), 1)
    return apply_edits(text, bound_cache(SourceFile("t.py", text), line, 4, methods=methods))


BODY = "\ndef pairs(labels):\n    same = labels[:, None] == labels\n    return same.float()\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@lru_cache(maxsize=None)", "@lru_cache(maxsize=4)"),
        ("@functools.lru_cache(None)", "@functools.lru_cache(4)"),
        ("@functools.lru_cache(typed=True, maxsize=None)", "@functools.lru_cache(typed=True, maxsize=4)"),
        ("@functools.cache", "@functools.lru_cache(maxsize=4)"),
        ("@torch.no_grad()\n@functools.cache", "@torch.no_grad()\n@functools.lru_cache(maxsize=4)"),
        ("from functools import cache\n@cache", "from functools import cache, lru_cache\n@lru_cache(maxsize=4)"),
        (
            "from functools import (\n    cache,\n    wraps,\n)\n@cache",
            "from functools import (\n    cache, lru_cache,\n    wraps,\n)\n@lru_cache(maxsize=4)",
        ),
        (
            "from functools import cache, lru_cache\n@cache",
            "from functools import cache, lru_cache\n@lru_cache(maxsize=4)",
        ),
        (
            "pure = partial(lru_cache, maxsize=None)\n@pure(typed=True)",
            "pure = partial(lru_cache, maxsize=None)\n@pure(typed=True, maxsize=4)",
        ),
        (
            "memo = functools.lru_cache(maxsize=None)\n@memo",
            "memo = functools.lru_cache(maxsize=None)\n@functools.lru_cache(maxsize=4)",
        ),
    ],
)
def test_a_cache_without_bound_gets_one(old: str, new: str) -> None:
    assert change(old + BODY) == new + BODY


@pytest.mark.parametrize(
    "made",
    [
        "memo = lru_cache(maxsize=16)\n@memo",
        "memo = lru_cache()\n@memo",
        "memo = partial(lru_cache, maxsize=16)\n@memo()",
        "memo = partial(lru_cache, 16)\n@memo()",
        "memo = partial(lru_cache, maxsize=None)\n@memo(maxsize=16)",
    ],
)
def test_a_cache_under_a_name_of_the_files_own_keeps_the_bound_that_it_has(made: str) -> None:
    assert change(made + BODY) == made + BODY


@pytest.mark.parametrize(
    "head",
    [
        "@lru_cache",
        "@lru_cache(maxsize=256)",
        "@lru_cache(maxsize=size)",
        "@other.cache",
        "@cache",
        "from joblib import cache\n@cache",
        "from functools import cache as remember, wraps as cache\n@cache",
        "@staticmethod",
    ],
)
def test_what_has_a_bound_or_is_another_cache_stays(head: str) -> None:
    assert change(head + BODY) == head + BODY


@pytest.mark.parametrize(
    "body",
    [
        "return torch.randn(n)",
        "return F.dropout(n)",
        "return n + torch.rand_like(n)",
        "calls.append(n)\n    return n * 2",
        "global count\n    count = n\n    return n * 2",
        "count[0] += 1\n    return n * 2",
        "n.seen = True\n    return n * 2",
        "table[n] = 1\n    return n * 2",
        "return {}",
        "return [n]",
        "return Encoder(n)",
        "return nn.Linear(n, n)",
        "return torch.load(n)",
        "yield n",
        "print(n)",
        "n * 2",
    ],
)
def test_what_may_not_give_the_same_again_keeps_its_results(body: str) -> None:
    text = f"@functools.cache\ndef pairs(n):\n    {body}\n"
    assert change(text) == text


def test_a_method_gets_a_bound_where_that_is_asked_for() -> None:
    text = "class Store:\n    @lru_cache(maxsize=None)\n    def pairs(self, items):\n        return self.table[items]\n"
    assert change(text) == text.replace("None", "4")
    assert change(text, methods=False) == text


def test_what_cannot_be_parsed_stays() -> None:
    assert change("def pairs(:\n") == "def pairs(:\n"


def test_a_program_that_looks_at_its_caches_is_told_from_others() -> None:
    broken, plain = SourceFile("a.py", "def f(:"), SourceFile("b.py", "pairs.cache_clear()")
    assert not reads_caches([broken, plain])
    assert reads_caches([broken, plain, SourceFile("c.py", "print(pairs.cache_info())")])


@pytest.mark.parametrize(
    ("body", "makes"),
    [
        ("return functools.lru_cache(maxsize=None)(function)", True),
        ("return cache(function)", True),
        ("return wraps(function)(inner)", False),
        ("return functools.lru_cache(maxsize=None)", False),
    ],
)
def test_a_function_that_caches_what_it_decorates_is_dropped_as_a_cache(body: str, makes: bool) -> None:
    memo = SourceFile("memo.py", f"def once(function):\n    {body}\n")
    board = SourceFile("board.py", "class Board:\n    @once\n    def planes(self):\n        return f(self)\n")

    makers = cache_makers([memo, board])

    assert makers == ["once"] * makes
    assert [edit.before for edit in drop_cache(board, 4, by_trial=True, makers=makers)] == ["    @once"] * makes


@pytest.mark.parametrize("decorator", ["cached_property", "functools.cached_property"])
def test_a_cached_property_is_computed_at_each_read(decorator: str) -> None:
    source = SourceFile("a.py", f"class A:\n    @{decorator}\n    def pairs(self):\n        return f(self)\n")

    assert [edit.after for edit in compute_at_each_read(source, "pairs")] == ["    @property"]
    assert compute_at_each_read(source, "other") == ()


def test_of_several_properties_of_a_name_none_is_chosen() -> None:
    one = "class {}:\n    @cached_property\n    def pairs(self):\n        return 1\n"

    assert compute_at_each_read(SourceFile("a.py", one.format("A") + one.format("B")), "pairs") == ()
