# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census, node_named
from tenure.analysis.heap.graph import build_graph
from tenure.analysis.heap.paths import path_to, shortest_paths
from tenure.analysis.heap.wording import expression, hops, render_path, render_targets


def told(text: str, name: str = "t") -> tuple[tuple[str, ...], str]:
    """Path and expression of the storage of the tensor called `name`."""
    made = census(text)
    graph = build_graph(made)
    path = path_to(graph, shortest_paths(graph), node_named(made, f"storage of {name}"))
    return render_path(graph, path), expression(graph, path)


@pytest.mark.parametrize(
    ("line", "texts", "as_python"),
    [
        (
            "Trainer.fit(/home/me/trainer.py:598).retval -> dict -> ['loss'] tensor 4B -> .grad_fn LossBackward -> .grads tensor#t 1MiB",
            ("local variable `retval` in Trainer.fit (trainer.py:598)", "['loss']", ".grad_fn", ".grads"),
            "retval['loss'].grad_fn.grads",
        ),
        (
            "main.net -> __main__.Net -> ._modules dict -> ['fc'] torch.nn.Linear -> ._parameters dict -> ['weight'] tensor#t 1KiB",
            ("global `net` in main (main.py)", ".fc", ".weight"),
            "net.fc.weight",
        ),
        (
            "main.f -> function file=/x/train.py:12 name=make.hook -> <cell seen> list -> [3] tensor#t 1KiB",
            ("global `f` in main (main.py)", "closure variable `seen` of make.hook (train.py:12)", "[3]"),
            "seen[3]",
        ),
        (
            "class Net(/x/net.py:3).cache -> dict -> ['k'] tensor#t 1KiB",
            ("class attribute `cache` of Net (net.py:3)", "['k']"),
            "Net.cache['k']",
        ),
        (
            "main.log -> list length=400 -> [7] tensor#t 1KiB",
            ("global `log` in main (main.py)", "[7]"),
            "log[*]",
        ),
        (
            "main.total -> tensor 4B -> .grad_fn AddBackward0 -> .next MulBackward0 -> .saved tensor#t 1MiB",
            ("global `total` in main (main.py)", ".grad_fn", ".next_functions[0]", "._saved_self"),
            "total.grad_fn.next_functions[0]._saved_self",
        ),
        (
            "unseen -> list -> [0] tensor#t 1KiB",
            ("an owner Tenure cannot see (evaluation stack, C code, atexit), of list", "[0]"),
            "[0]",
        ),
        (
            "unseen -> generator file=/x/train.py:14 name=clips -> <local plan> list -> [0] tensor#t 1KiB",
            (
                "a running loop over clips (train.py:14)",
                "local variable of suspended `plan` clips (train.py:14)",
                "[0]",
            ),
            "plan[0]",
        ),
        (
            "unseen -> data.Prefetcher iterator -> .batch tensor#t 1KiB",
            ("a running loop over Prefetcher", ".batch"),
            "batch",
        ),
        (
            "unseen -> method name=Session.__exit__ -> <self> data.Session -> .net tensor#t 1KiB",
            ("a `with` statement whose block runs", ".__self__", ".net"),
            "__self__.net",
        ),
        (
            "lib:sys.last_exc -> ValueError -> .args tuple -> [0] tensor#t 1KiB",
            ("`sys.last_exc` (the last uncaught error)", ".args", "[0]"),
            "last_exc.args[0]",
        ),
        (
            "lib:threading.excepthook -> function file=/x/train.py:12 name=report -> <cell seen> tensor#t 1KiB",
            ("`threading.excepthook`", "closure variable `seen` of report (train.py:12)"),
            "seen",
        ),
        (
            "trace.log -> list -> [0] tensor#t 1KiB",
            ("global `log` in trace (trace.py)", "[0]"),
            "log[0]",
        ),
        (
            "__main__.Out -> dict -> [3] tensor#t 1KiB",
            ("cell output history `Out`", "[3]"),
            "Out[3]",
        ),
        (
            "lib:class finalize(/lib/python3/weakref.py:3)._registry -> dict -> [<finalize>] weakref._Info -> .args tuple -> [0] tensor#t 1KiB",
            ("callbacks of `weakref.finalize`", "[<finalize>]", ".args", "[0]"),
            "finalize._registry[<finalize>].args[0]",
        ),
        (
            "hidden signal handler of SIGTERM. -> function file=/x/train.py:12 name=save -> <cell net> tensor#t 1KiB",
            ("signal handler of SIGTERM", "closure variable `net` of save (train.py:12)"),
            "net",
        ),
        (
            "unseen -> Context -> <other > hamt -> <other > hamt_bitmap_node -> [state] tensor#t 1KiB",
            ("the context (contextvars) of a running thread or task", "context variable `state`"),
            "state",
        ),
        (
            "unseen -> method name=Trainer.save -> <self> __main__.Trainer -> .net tensor#t 1KiB",
            (
                "a callback that only C code keeps (an exit handler or a pack hook, probably): Trainer.save",
                ".__self__",
                ".net",
            ),
            "__self__.net",
        ),
        ("island -> tensor#t 1KiB native=1", ("a native (C++) owner of Tensor",), ""),
    ],
)
def test_a_path_reads_as_a_person_would_write_it(line: str, texts: tuple[str, ...], as_python: str) -> None:
    assert told(line) == (texts, as_python)


def test_a_cell_output_is_told_by_its_history_and_a_plain_name_is_not() -> None:
    cell, own = "__main__._3 -> tensor#t 1KiB", "__main__._ -> tensor#t 1KiB"

    assert told(f"{cell}\n__main__._oh -> dict -> [3] tensor#t")[0] == ("cell output history `_3`",)
    assert told(own)[0] == ("global `_` in __main__ (__main__.py)",)


def test_the_users_own_name_is_preferred_to_a_shorter_way_through_a_library() -> None:
    texts, _ = told("""
        lib:torch._state.cache -> tensor#t 1KiB
        main.trainer -> __main__.Trainer -> .records list -> [0] dict -> ['x'] __main__.Record -> .value tensor#t
    """)

    assert texts[0] == "global `trainer` in main (main.py)"


def test_an_optimizers_table_is_the_last_way_to_a_tensor() -> None:
    _, as_python = told("""
        main.optimizer -> torch.optim.adam.Adam -> .state dict -> ['p'] tensor#t 1KiB
        main.a -> list -> [0] list -> [0] list -> [0] list -> [0] tensor#t
    """)

    assert as_python == "a[0][0][0][0]"


def test_equal_ways_are_decided_by_name_in_whatever_order_they_were_seen() -> None:
    lines = ["main.b -> tensor#t 1KiB", "main.a -> tensor#t 1KiB"]

    assert told("\n".join(lines))[1] == told("\n".join(reversed(lines)))[1] == "a"


def test_hops_say_who_made_each_reference() -> None:
    made = census("main.m -> torch.nn.Linear -> .weight tensor#t 1KiB")
    graph = build_graph(made)
    found = hops(graph, path_to(graph, shortest_paths(graph), node_named(made, "storage of t")))

    assert [(hop.kind, hop.label, hop.source_kind, hop.user) for hop in found] == [
        ("GLOBAL", "m", "NAMESPACE", True),
        ("DICT", "__dict__", "OBJECT", False),
        ("ITEM", "'weight'", "OBJECT", False),
        ("STORAGE", "", "TENSOR", True),
    ]


@pytest.mark.parametrize(
    ("line", "targets"),
    [
        ("class State(/x/state.py:3).shared -> dict -> ['k'] tensor#t 1KiB", ("dict of 1", "Tensor [256] float32, 1.00 KiB")),
        ("main.shared -> dict -> ['k'] tensor#t 1KiB", ("dict of 1", "Tensor [256] float32, 1.00 KiB")),
        ("hidden atexit. -> dict -> ['k'] tensor#t 1KiB", ("dict of 1", "Tensor [256] float32, 1.00 KiB")),
    ],
)  # fmt: skip
def test_each_text_of_a_path_has_what_it_leads_to_beside_it(line: str, targets: tuple[str, ...]) -> None:
    made = census(line)
    graph = build_graph(made)
    path = path_to(graph, shortest_paths(graph), node_named(made, "storage of t"))

    assert render_targets(graph, path) == targets
    assert len(render_path(graph, path)) == len(targets)


@pytest.mark.parametrize(
    ("owner", "held"),
    [
        ("data.Prefetcher iterator -> .batch", True),
        ("data.Prefetcher -> .batch", False),
        ("method name=Session.__exit__ -> <self> data.Session -> .batch", True),
        ("method name=Session.__aexit__ -> <self> data.Session -> .batch", True),
        ("method name=Session.close -> <self> data.Session -> .batch", False),
        ("function name=Session.__exit__ -> <cell batch>", False),
        ("contextlib._GeneratorContextManager -> .gen generator -> <local batch>", True),
    ],
)
def test_a_loop_or_block_that_runs_is_a_root_and_another_unseen_owner_is_none(owner: str, held: bool) -> None:
    made = census(f"unseen -> {owner} tensor#t 1KiB")

    assert shortest_paths(build_graph(made)).held_by_root(node_named(made, "t")) is held
