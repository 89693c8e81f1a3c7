# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

from heaps import census
from tenure.analysis.heap.graph import build_graph
from tenure.analysis.heap.holders import ring_reference
from tenure.analysis.heap.islands import find_islands, unseen_owned
from tenure.analysis.heap.wording import render_path

RING = """
island -> __main__.Metric#metric -> .update function#wrapped file=metric.py:9 name=wrapped -> <cell self> __main__.Metric#metric
island -> __main__.Metric#metric -> .matrix tensor#t 4KiB
"""


def test_a_ring_of_a_metric_and_its_closure_is_an_island_cut_at_the_attribute() -> None:
    graph = build_graph(census(RING))
    (island,) = find_islands(graph)

    assert island.signature == "__main__.Metric cell function"
    assert render_path(graph, island.ring)[-2:] == (
        ".update",
        "closure variable `self` of wrapped (metric.py:9)",
    )
    assert int(graph.bytes_of_node[island.storages].sum()) == 4096
    assert not island.through_cpp


def test_a_ring_of_parents_and_children_is_cut_where_a_child_leads_back() -> None:
    """The children are wanted; a child may know its parent weakly."""
    ring = (
        "island -> __main__.Branch#root -> .children dict -> [3] __main__.Branch#leaf -> .parent __main__.Branch#root\n"
        "island -> __main__.Branch#leaf -> .state tensor 4KiB"
    )
    graph = build_graph(census(ring))
    (island,) = find_islands(graph)

    assert graph.labels[island.cut].strip("'") == "parent"
    assert render_path(graph, island.ring)[-3:] == (".parent", ".children", "[3]")


def test_a_ring_over_a_tensors_own_hook_is_cut_at_what_the_hook_closes_over() -> None:
    hook = "function#gate file=gating.py:11 name=gated.<locals>.<lambda>"
    ring = (
        f"island -> {hook} -> <cell activation> tensor#t 1MiB -> <hook> collections.OrderedDict#hooks -> [323] {hook}"
    )
    graph = build_graph(census(ring))
    (island,) = find_islands(graph)

    assert render_path(graph, island.ring)[-3:] == (
        "closure variable `activation` of gated.<locals>.<lambda> (gating.py:11)",
        " (hooks)",
        "[323]",
    )


def test_a_ring_over_the_hook_of_a_result_is_cut_where_that_is_kept() -> None:
    """`self.stored["output"] = output`, whose hook is a function that closes over `self`."""
    adjust = "function#adjust file=rules.py:13 name=Rule.wrap.<locals>.adjust"
    ring = (
        "island -> __main__.Rule#rule -> .stored dict#stored -> ['output'] tensor#out 1MiB -> <hook> "
        f"collections.OrderedDict#hooks -> [0] {adjust} -> <cell self> __main__.Rule#rule\n"
        "island -> tensor#out -> .grad_fn ReluBackward0#relu"
    )
    graph = build_graph(census(ring))
    (island,) = find_islands(graph)

    assert render_path(graph, island.ring)[-5:] == (
        ".stored",
        "['output']",
        " (hooks)",
        "[0]",
        "closure variable `self` of Rule.wrap.<locals>.adjust (rules.py:13)",
    )
    assert island.through_cpp
    without_graph = build_graph(census(ring.rpartition("\n")[0]))
    assert render_path(without_graph, find_islands(without_graph)[0].ring)[-5:][0].startswith("closure variable")


def test_a_ring_that_something_unseen_holds_is_no_island() -> None:
    graph = build_graph(census("island -> list#l unseen=1 -> [0] list#l\nisland -> list#l -> [1] tensor 4B"))

    assert find_islands(graph) == ()
    assert len(unseen_owned(graph)) == 1


def test_a_ring_whose_counts_are_unknown_is_no_island() -> None:
    assert find_islands(build_graph(census("island -> list#l unknown -> [0] list#l"))) == ()


def test_a_ring_below_a_root_is_no_island() -> None:
    assert find_islands(build_graph(census(RING + "main.metric -> __main__.Metric#metric"))) == ()


def test_an_output_kept_on_ctx_is_a_ring_that_cpp_owns_too() -> None:
    graph = build_graph(census("island -> ExpBackward#node -> .out tensor#out 1MiB -> .grad_fn ExpBackward#node"))
    (island,) = find_islands(graph)

    assert (island.through_cpp, render_path(graph, island.ring)[-2:]) == (True, (".out", ".grad_fn"))


def islands_of(drawn: str) -> list[tuple[list[str], int]]:
    """The labels to drop of each island, and how many references these are."""
    graph = build_graph(census(drawn))
    return [([graph.labels[r] for r in (each.cut, *each.others)], len(each.cuts)) for each in find_islands(graph)]


OUTPUTS = "island -> SplitBackward#node -> .{name} tensor#{name} {size} -> .grad_fn SplitBackward#node\n"


def test_two_outputs_kept_on_ctx_have_to_be_dropped_both() -> None:
    drawn = OUTPUTS.format(name="low", size="1MiB") + OUTPUTS.format(name="high", size="1MiB")

    assert islands_of(drawn) == [(["high", "low"], 2)]


def test_a_second_way_around_that_holds_next_to_nothing_is_not_told() -> None:
    drawn = OUTPUTS.format(name="high", size="1MiB") + OUTPUTS.format(name="low", size="4B")

    assert islands_of(drawn) == [(["high"], 1)]


def test_a_ring_with_many_ways_around_is_told_by_one_of_them() -> None:
    drawn = "".join(OUTPUTS.format(name=name, size="1MiB") for name in ("a", "b", "c", "d", "e"))

    assert islands_of(drawn) == [(["a"], 1)]


def test_a_tensors_own_hook_is_owned_by_the_node_that_made_the_tensor_too() -> None:
    ring = "island -> dict#kept -> ['h'] tensor#h 1MiB -> <hook> collections.OrderedDict#hooks -> [0] dict#kept"
    made_by = "island -> dict#kept -> ['h'] tensor#h -> .grad_fn AddmmBackward0 unseen=1"
    of_leaf, of_result = (find_islands(build_graph(census(drawn))) for drawn in (ring, f"{ring}\n{made_by}"))

    assert ([each.through_cpp for each in of_leaf], [each.through_cpp for each in of_result]) == ([False], [True])


def test_a_ring_held_by_another_ring_belongs_to_it() -> None:
    graph = build_graph(
        census("""
        island -> list#a -> [0] list#a
        island -> list#a -> [1] list#b -> [0] list#b
        island -> list#b -> [1] tensor#t 4KiB
        """)
    )
    (island,) = find_islands(graph)

    assert len(island.storages) == 1


def test_a_finished_frame_and_its_exception_are_cut_at_the_local_variable() -> None:
    frame = "island -> frame#f file=loop.py:17 name=is_in_range"
    graph = build_graph(
        census(f"""
        {frame} -> <local failure> ValueError#e -> .__traceback__ traceback#t -> .tb_frame frame#f
        {frame} -> <local features> tensor 1MiB
        """)
    )
    (island,) = find_islands(graph)
    cut = ring_reference(graph, island.cut)

    assert render_path(graph, island.ring)[-3:] == (
        "local variable `failure` in is_in_range (finished) (loop.py:17)",
        ".__traceback__",
        ".tb_frame",
    )
    assert (cut.kind, cut.name, cut.scope_file, cut.scope_function, cut.scope_line) == (
        "local",
        "failure",
        "loop.py",
        "is_in_range",
        17,
    )
