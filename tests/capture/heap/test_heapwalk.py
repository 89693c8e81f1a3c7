"""Both walks must give the same result to the last reference; what that result is, small heaps show."""

from __future__ import annotations

import builtins
import collections
import ctypes
import functools
import gc
import itertools
import random
import struct
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.capture.heap import heapwalk
from tenure.capture.heap.heapwalk import Category, Walk, walk_native, walk_python

LISTS_ALL_OBJECTS = True

needs_native = pytest.mark.skipif(not heapwalk.NATIVE, reason="the C walk was not built here")
walks = pytest.mark.parametrize("walk", [walk_python, pytest.param(walk_native, marks=needs_native)])


class Target:
    pass


class Holder:
    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)


class Inline:
    """Its `__dict__` is never made on Python 3.11 and later."""

    def __init__(self, value: object) -> None:
        self.value = value
        self.number = 3


class Slots:
    __slots__ = ("__weakref__", "first", "second")

    def __init__(self, first: object, second: object = None) -> None:
        self.first, self.second = first, second


class Table(dict[str, object]):
    pass


class Array(int):
    """Not tracked by the collector; what it holds is found by `contents_of` alone."""

    __slots__ = ()


CONTENTS: dict[int, list[object]] = {}


def contents_of(array: object) -> list[object]:
    return list(CONTENTS.get(int(array), ()))  # type: ignore[call-overload]


def classify(kind: type) -> int:
    if kind is Target:
        return Category.TARGET
    if kind is Array:
        return Category.ARRAY
    if issubclass(kind, weakref.ref):
        return Category.IGNORE
    return Category.ROOT if issubclass(kind, type) else Category.NORMAL


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    gc.collect(1)  # all that the tests before have made: automatic collection was off
    gc.disable()
    CONTENTS.clear()
    yield
    CONTENTS.clear()
    gc.enable()


def plain(walk: Walk) -> tuple[object, ...]:
    """The walk in lists; how many references lead to the builtins is left out: every living function has one."""
    counted = zip(walk.nodes, walk.refcounts.tolist(), strict=True)
    references = [0 if node is vars(builtins) else count for node, count in counted]
    columns = [column.tolist() for column in (walk.source, walk.target, walk.host_bytes)]
    return [id(node) for node in walk.nodes], *columns, references, walk.num_objects


def assert_same(objects: list[object], weights: tuple[int, ...] = (0, 1, 200), **options: Any) -> None:
    options.setdefault("classify", classify)
    options.setdefault("contents", contents_of)
    for least_bytes in weights:
        expected = plain(walk_python(objects, least_bytes=least_bytes, **options))
        if heapwalk.NATIVE:
            assert plain(walk_native(objects, least_bytes=least_bytes, **options)) == expected


def names_of(walk: Walk, **names: object) -> tuple[list[str], list[str]]:
    known = {id(item): name for name, item in names.items()}
    nodes = [known.get(id(node), "?") for node in walk.nodes]
    return nodes, [f"{nodes[s]} -> {nodes[t]}" for s, t in zip(walk.source, walk.target, strict=True)]


def reachable(*starts: object) -> list[object]:
    """Everything the collector can follow from here, without classes, modules and their namespaces."""
    seen: dict[int, object] = {}
    todo = list(starts)
    while todo:
        item = todo.pop()
        if id(item) in seen or isinstance(item, (type, types.ModuleType)) or item is globals():
            continue
        if isinstance(item, dict) and "__builtins__" in item:
            continue
        seen[id(item)] = item
        todo += gc.get_referents(item)
    return [item for item in seen.values() if gc.is_tracked(item)]


@walks
def test_only_what_reaches_a_target_is_a_node(walk: Callable[..., Walk]) -> None:
    target = Target()
    inner = [target, target]
    outer, other = (inner, []), [[1]]
    found = walk([outer, other, inner, target], classify=classify)

    assert names_of(found, target=target, inner=inner, outer=outer) == (
        ["outer", "inner", "target"],
        ["outer -> inner", "inner -> target", "inner -> target"],
    )
    assert found.num_objects == 4


@walks
def test_a_target_is_a_node_though_nothing_refers_to_it(walk: Callable[..., Walk]) -> None:
    target = Target()

    assert names_of(walk([target], classify=classify), target=target) == (["target"], [])


@walks
def test_what_a_target_refers_to_is_recorded_where_it_leads_to_a_target(walk: Callable[..., Walk]) -> None:
    first, second = Target(), Target()
    first.to = [second]  # type: ignore[attr-defined]
    first.dull = []  # type: ignore[attr-defined]
    nodes, edges = names_of(
        walk(reachable(first), classify=classify),
        **{"first": first, "second": second, "list": first.to},  # type: ignore[attr-defined]
    )

    assert "list -> second" in edges
    assert nodes.count("first") == nodes.count("second") == nodes.count("list") == 1


@walks
def test_ascent_stops_at_roots(walk: Callable[..., Walk]) -> None:
    target = Target()
    namespace: dict[str, object] = {"target": target}
    above = [namespace]
    found = walk([above, namespace, target], classify=classify, roots={id(namespace)})

    assert names_of(found, target=target, namespace=namespace, above=above) == (
        ["namespace", "target"],
        ["namespace -> target"],
    )


@walks
def test_a_class_is_a_root_by_its_type(walk: Callable[..., Walk]) -> None:
    class Keeper:
        kept = (Target(),)

    instance, namespace = Keeper(), gc.get_referents(Keeper)[0]
    found = walk([instance, Keeper, namespace, Keeper.kept, Keeper.kept[0]], classify=classify)

    assert names_of(found, Keeper=Keeper, namespace=namespace, kept=Keeper.kept, target=Keeper.kept[0]) == (
        ["Keeper", "namespace", "kept", "target"],
        ["Keeper -> namespace", "namespace -> kept", "kept -> target"],
    )


@walks
def test_ignored_objects_and_types_are_not_looked_into(walk: Callable[..., Walk]) -> None:
    target = Target()
    ours, theirs = [target], [target]
    pointer = weakref.ref(target)
    found = walk([ours, theirs, pointer, target], classify=classify, ignore=[id(ours)])

    assert names_of(found, target=target, theirs=theirs) == (["theirs", "target"], ["theirs -> target"])


@walks
def test_being_ignored_is_stronger_than_being_a_root(walk: Callable[..., Walk]) -> None:
    target = Target()
    held = [target]

    assert len(walk([held, target], classify=classify, roots=[id(held)], ignore=[id(held)]).nodes) == 1


@walks
def test_arrays_are_found_by_reference_and_looked_into_once(walk: Callable[..., Walk]) -> None:
    target = Target()
    outer, inner, dull = Array(10_001), Array(10_002), Array(10_003)
    CONTENTS.update({10_001: [inner, target, inner, dull], 10_002: [target]})
    asked: list[int] = []

    def contents(array: object) -> list[object]:
        asked.append(int(array))  # type: ignore[call-overload]
        return contents_of(array)

    buffer = [outer]
    found = walk([target, buffer], classify=classify, contents=contents)

    assert names_of(found, target=target, buffer=buffer, outer=outer, inner=inner) == (
        ["target", "buffer", "outer", "inner"],
        ["buffer -> outer", "outer -> inner", "outer -> target", "outer -> inner", "inner -> target"],
    )
    assert sorted(asked) == [10_001, 10_002, 10_003]


@walks
def test_of_further_objects_only_arrays_become_nodes(walk: Callable[..., Walk]) -> None:
    target = Target()
    array, local = Array(10_001), [target]
    CONTENTS[10_001] = [target]
    found = walk([target], classify=classify, contents=contents_of, extra=[local, array])

    assert names_of(found, target=target, array=array) == (["target", "array"], ["array -> target"])


@walks
def test_arrays_stand_in_the_order_they_are_met(walk: Callable[..., Walk]) -> None:
    target = Target()
    first, second, third, nested = (Array(10_001 + i) for i in range(4))
    CONTENTS.update({10_001: [nested, target], 10_002: [target], 10_003: [target], 10_004: [target]})
    lists = [[second], [first, second]]
    found = walk([lists[0], lists[1], target], classify=classify, contents=contents_of, extra=(third, second))

    assert names_of(found, first=first, second=second, third=third, nested=nested)[0] == [
        *("?", "?", "?"),
        *("second", "first", "third", "nested"),
    ]


@walks
def test_an_ignored_array_is_not_looked_into(walk: Callable[..., Walk]) -> None:
    target, array = Target(), Array(10_001)
    CONTENTS[10_001] = [target]
    found = walk([[array], target], classify=classify, contents=contents_of, extra=[array], ignore=[id(array)])

    assert [type(node) for node in found.nodes] == [Target]


@walks
def test_reference_counts_are_what_others_hold(walk: Callable[..., Walk]) -> None:
    target, array = Target(), Array(10_001)
    CONTENTS[10_001] = [target]
    twice = [target, array, array]
    found = walk([twice, target], classify=classify, contents=contents_of)

    in_contents, variable = 1, 1
    assert found.refcounts.tolist() == [variable, variable + 1 + in_contents, variable + 2]


@walks
def test_a_count_does_not_include_what_nobody_holds_any_more(walk: Callable[..., Walk]) -> None:
    objects = [Target()]

    assert walk(objects, classify=classify).refcounts.tolist() == [0]


@walks
@pytest.mark.skipif(sys.version_info < (3, 12), reason="no object is immortal before Python 3.12")
def test_an_immortal_object_has_no_count(walk: Callable[..., Walk]) -> None:
    found = walk([()], classify=lambda kind: Category.TARGET if kind is tuple else Category.NORMAL)

    assert found.refcounts.tolist() == [-1]


@walks
def test_each_type_is_asked_for_once(walk: Callable[..., Walk]) -> None:
    asked: list[type] = []

    def ask(kind: type) -> int:
        asked.append(kind)
        return classify(kind)

    target = Target()
    walk([[target, 1, "a", 2, (3.0,)], [target, 4], target], classify=ask)

    assert len(asked) == len(set(asked))
    assert {list, Target, int, str, float} - set(asked) <= {float}


@walks
def test_an_error_in_classify_reaches_the_caller(walk: Callable[..., Walk]) -> None:
    def ask(kind: type) -> int:
        raise KeyError(kind.__name__)

    with pytest.raises(KeyError, match="list"):
        walk([[]], classify=ask)


@walks
def test_an_error_in_contents_reaches_the_caller(walk: Callable[..., Walk]) -> None:
    def contents(array: object) -> list[object]:
        raise KeyError("contents")

    with pytest.raises(KeyError, match="contents"):
        walk([[Array(10_001)]], classify=classify, contents=contents)


@walks
def test_an_unknown_category_is_refused(walk: Callable[..., Walk]) -> None:
    with pytest.raises(ValueError, match="17"):
        walk([[]], classify=lambda kind: 17)


@walks
def test_an_empty_heap_has_no_ancestry(walk: Callable[..., Walk]) -> None:
    assert plain(walk([], classify=classify)) == ([], [], [], [], [], 0)


@pytest.mark.parametrize(
    "walk", [pytest.param(walk_python, marks=pytest.mark.slow), pytest.param(walk_native, marks=needs_native)]
)
def test_a_list_of_200_000_links_needs_no_deep_stack(walk: Callable[..., Walk]) -> None:
    chain: list[object] = [Target()]
    links: list[object] = [chain]
    for _ in range(200_000):
        chain = [chain]
        links.append(chain)
    random.Random(1).shuffle(links)
    found = walk([*links, Target()], classify=classify)
    assert len(found.nodes) == 1  # the innermost target is not listed, so nothing leads to one
    del found
    innermost = next(link for link in links if type(link[0]) is Target)  # type: ignore[index]
    found = walk([*links, innermost[0]], classify=classify)  # type: ignore[index]
    assert (len(found.nodes), len(found.source)) == (200_002, 200_001)
    del found, innermost
    while chain and type(chain[0]) is list:
        chain[:], chain = [], chain[0]


@needs_native
def test_chains_that_jump_about_in_memory_are_followed_to_their_ends() -> None:
    """Six sweeps are not enough for these: the worklist takes over."""
    lists: list[list[object]] = [[] for _ in range(4_000)]
    order = list(range(4_000))
    random.Random(2).shuffle(order)
    for here, there in itertools.pairwise(order):
        lists[here].append(lists[there])
    lists[order[-1]].append(Target())
    assert_same([*lists, lists[order[-1]][0]])
    assert len(walk_native([*lists, lists[order[-1]][0]], classify=classify).nodes) == 4_001


def test_a_long_list_overflows_no_buffer() -> None:
    target = Target()
    many: list[object] = [[i] for i in range(5_000)]
    assert_same([[*many, target, *many], many, target, *many, [target] * 10_000])


def a_generator(value: object) -> Iterator[int]:
    kept = [value]
    yield 1
    del kept
    yield 2


async def a_coroutine(value: object) -> None:
    kept = [value]
    await types.coroutine(lambda: (yield))()  # type: ignore[misc,func-returns-value]
    del kept


class Methods:
    def method(self) -> None: ...

    @functools.lru_cache(maxsize=8)
    def cached(self, value: object) -> object:
        return value


def test_both_walks_agree_on_all_kinds_of_objects() -> None:
    target = Target()
    cell_value = [target]

    def closure(default: object = target, *, keyword: object = cell_value) -> object:
        return cell_value, default, keyword

    @functools.cache
    def cached(value: object) -> object:
        return [value]

    cached(target)
    generator, coroutine = a_generator(target), a_coroutine(target)
    next(generator)
    coroutine.send(None)
    methods = Methods()
    methods.cached(target)
    ring: list[object] = [target]
    ring.append(ring)
    holder = Holder(a=target, b=[target])
    holder.me = holder  # type: ignore[attr-defined]
    everything = [
        Inline(target),
        Slots(target, Slots(None)),
        Table(a=target),
        collections.deque([target, 1], maxlen=5),
        collections.defaultdict(list, a=[target]),
        collections.OrderedDict(a=target),
        functools.partial(closure, target, keyword=[target]),
        types.MappingProxyType({"a": target}),
        {target, 1},
        frozenset([target]),
        weakref.WeakValueDictionary({"a": target}),
        weakref.WeakKeyDictionary({target: 1}),
        memoryview(b"abc"),
        iter([target]),
        map(closure, [target]),
        zip([target], [1], strict=True),
        methods.method,
        RuntimeError(target),
        slice(target, 1),
        *(ring, holder, closure, cached, generator, coroutine, methods, Methods, weakref.ref(target)),
    ]
    del ring, holder, closure, cached, methods

    assert_same(reachable(everything))
    coroutine.close()


def test_both_walks_agree_on_this_whole_process() -> None:
    kept = [Holder(value=Target()), Inline([Target()]), (Array(10_001),), Array(10_001)]
    CONTENTS[10_001] = [kept[0], Target()]
    roots = {id(vars(module)) for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)}
    heavy = [[None] * 500 for _ in range(200)]  # 4,000 B each, whatever earlier tests have left
    own = set(map(id, heavy))
    objects = [*(value for value in gc.get_objects()[-60_000:] if id(value) not in own), *heavy]
    ignore = {id(objects), id(roots), id(kept)}  # what is passed in is held by the calls themselves

    assert_same(objects, weights=(0,), roots=roots, ignore=ignore, extra=kept)
    weighed = [
        walk(objects, classify=classify, roots=roots, ignore=ignore, least_bytes=1_000).host_bytes.tolist()
        for walk in ((walk_python, walk_native) if heapwalk.NATIVE else (walk_python,))
    ]
    assert weighed[0] == weighed[-1]
    assert weighed[0].count(4_000) >= len(heavy)


@needs_native
def test_both_walks_agree_on_object_arrays() -> None:
    numpy = pytest.importorskip("numpy", reason="object arrays need NumPy")

    def ask(kind: type) -> int:
        return Category.ARRAY if issubclass(kind, numpy.ndarray) else classify(kind)

    def contents(array: Any) -> list[object]:
        return array.ravel().tolist() if array.dtype.hasobject else []

    class Sub(numpy.ndarray):  # type: ignore[name-defined,misc]
        pass

    inner = numpy.array([Target(), None, [Target()]], dtype=object)
    outer = numpy.empty((2, 2), dtype=object)
    outer[0, 0], outer[1, 1] = inner, inner[0]
    tracked = numpy.array([inner[0], "text"], dtype=object).view(Sub)
    tracked.extra = [outer]
    objects = [*reachable([outer], inner[2], tracked), inner[0]]
    first = walk_native(objects, classify=ask, contents=contents)

    assert sum(type(node) in (numpy.ndarray, Sub) for node in first.nodes) >= 3
    del first
    assert_same(objects, classify=ask, contents=contents, extra=[inner])


@needs_native
@settings(max_examples=60, deadline=None)
@given(
    kinds=st.lists(st.sampled_from("ltdiosa"), min_size=1, max_size=40),
    edges=st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=120),
    targets=st.integers(0, 4),
    chosen=st.integers(0, 2**40 - 1),
    seed=st.integers(0, 99),
)
def test_both_walks_agree_on_random_graphs(
    kinds: list[str], edges: list[tuple[int, int]], targets: int, chosen: int, seed: int
) -> None:
    objects = make_graph(kinds, edges, targets)
    listed = [item for item in objects if not isinstance(item, Array)]
    listed += [vars(item) for item in listed if isinstance(item, Holder)]
    random.Random(seed).shuffle(listed)
    roots = [id(item) for i, item in enumerate(listed) if chosen >> i & 3 == 3]
    ignore = [id(item) for i, item in enumerate(objects) if chosen >> i & 31 == 19]

    assert_same(listed, roots=roots, ignore=ignore, extra=[i for i in objects if isinstance(i, Array)][:2])


def make_graph(kinds: list[str], edges: list[tuple[int, int]], targets: int) -> list[object]:
    makers: dict[str, Callable[[], object]] = {
        **{"l": list, "d": dict, "i": Holder, "s": lambda: Slots([]), "o": lambda: collections.deque(maxlen=4)},
    }
    objects: list[object] = []
    for i, kind in enumerate(kinds):
        if kind == "t":
            objects.append((objects[-1], i) if objects else ())
        else:
            objects.append(Array(20_000 + i) if kind == "a" else makers[kind]())
    objects += [Target() for _ in range(targets)]
    for source, target in edges:
        refer(objects[source % len(objects)], objects[target % len(objects)])
    return [item for item in objects if gc.is_tracked(item) or isinstance(item, Array)]


def refer(source: object, target: object) -> None:
    if isinstance(source, (list, collections.deque)):
        source.append(target)
    elif isinstance(source, dict):
        source[len(source)] = target
    elif isinstance(source, Slots):
        source.second = target
    elif isinstance(source, Array):
        CONTENTS.setdefault(int(source), []).append(target)
    elif isinstance(source, (Holder, Target)):
        vars(source)[f"a{len(vars(source))}"] = target


def text_of(length: int, letter: str = "a") -> str:
    return "".join([letter] * length)


@walks
def test_what_alone_holds_much_host_memory_is_a_target(walk: Callable[..., Walk]) -> None:
    text, blob, table = text_of(1_000), bytes(1_000), bytearray(1_000)
    held = [text_of(1_000), bytes(1_000), bytearray(1_000), None, 1.5 * len(text), text, blob, table]
    below, shared, above = [text_of(10)], [text, blob, table], [held]
    found = walk([below, held, shared, above], classify=classify, least_bytes=1_000)

    assert names_of(found, held=held, above=above) == (["held", "above"], ["above -> held"])
    sizes, pointer = sys.getsizeof(text) + sys.getsizeof(blob) + sys.getsizeof(table), struct.calcsize("P")
    assert found.host_bytes.tolist() == [sizes + (8 + 4) * pointer, pointer]


@walks
def test_the_entries_of_large_tables_are_host_memory(walk: Callable[..., Walk]) -> None:
    pointer = struct.calcsize("P")
    tables = [[None] * 500, {None: None, **dict.fromkeys(range(255))}, set(range(250)), (None,) * 500]
    found = walk([*tables, [None] * 499], classify=classify, least_bytes=500 * pointer)

    assert [id(node) for node in found.nodes] == [id(table) for table in tables]
    assert found.host_bytes.tolist() == [500 * pointer, 768 * pointer, 500 * pointer, 500 * pointer]


@walks
def test_roots_and_ignored_objects_are_not_weighed(walk: Callable[..., Walk]) -> None:
    namespace, ours = {"text": text_of(5_000)}, [text_of(5_000)]
    found = walk([namespace, ours], classify=classify, roots=[id(namespace)], ignore=[id(ours)], least_bytes=1)

    assert plain(found) == ([], [], [], [], [], 2)


@walks
def test_arrays_that_tell_their_size_weigh_on_the_one_that_holds_them(walk: Callable[..., Walk]) -> None:
    shared = Array(10_001)
    owner, other, third = [Array(5_000), Array(6_000)], [shared], [shared]
    found = walk([owner, other, third], classify=classify, contents=int, least_bytes=1_000)

    assert [id(node) for node in found.nodes] == [id(owner)]
    assert found.host_bytes.tolist() == [11_000 + 2 * struct.calcsize("P")]


@walks
def test_nothing_is_weighed_unless_asked_for(walk: Callable[..., Walk]) -> None:
    target = Target()
    found = walk([[target, text_of(5_000)], target], classify=classify)

    assert found.host_bytes.tolist() == [0, 0]


def complex_is_an_array(kind: type) -> int:
    return Category.ARRAY if kind is complex else classify(kind)


def real_part(array: object) -> int:
    return int(array.real)  # type: ignore[attr-defined]


@walks
def test_light_untracked_dicts_and_tuples_weigh_on_the_one_that_holds_them(walk: Callable[..., Walk]) -> None:
    pointer, start = struct.calcsize("P"), 5_000.0
    row, pair = {"text": text_of(900), "array": complex(start)}, (text_of(900), start + 0.5)
    gc.collect()  # untracks the tuple
    held = [row, pair]
    del row, pair
    assert [gc.is_tracked(item) for item in held] == [False, False]
    found = walk([held], classify=complex_is_an_array, contents=real_part, least_bytes=6_500)

    assert [id(node) for node in found.nodes] == [id(held)]
    inside = 2 * sys.getsizeof(text_of(900)) + 5_000 + 4 * pointer
    assert found.host_bytes.tolist() == [inside + (2 * 3 + 2 + 2) * pointer]


@walks
def test_heavy_untracked_dicts_are_nodes_whoever_refers_to_them(walk: Callable[..., Walk]) -> None:
    pointer, start = struct.calcsize("P"), 5_000.0
    table, local = {number: complex(start) for number in range(3)}, {"text": text_of(9_000)}
    namespace, light = {"table": table, "list": []}, {"text": text_of(10)}
    options: dict[str, Any] = {"classify": complex_is_an_array, "contents": real_part, "least_bytes": 9_000}
    found = walk([namespace, [light]], roots=[id(namespace)], extra=[local, light, table], **options)

    assert names_of(found, namespace=namespace, table=table, local=local) == (
        ["namespace", "table", "local"],
        ["namespace -> table"],
    )
    text_bytes = sys.getsizeof(text_of(9_000))
    assert found.host_bytes.tolist() == [0, 15_000 + 9 * pointer, text_bytes + 3 * pointer]
    assert_same([namespace, [light]], weights=(9_000,), roots=[id(namespace)], extra=[local, light, table],
                classify=complex_is_an_array, contents=real_part)  # fmt: skip


@walks
def test_an_error_in_contents_of_an_array_in_a_dict_reaches_the_caller(walk: Callable[..., Walk]) -> None:
    def contents(array: object) -> list[object]:
        raise KeyError("contents")

    number = 5_000.0
    held = [{"array": complex(number)}]
    with pytest.raises(KeyError, match="contents"):
        walk([held], classify=complex_is_an_array, contents=contents, least_bytes=1)


def test_both_walks_weigh_text_of_all_widths_alike() -> None:
    texts = [text_of(100, letter) for letter in "a\xe4\u20ac\U0001f600"]
    texts[1].encode()
    held = [text_of(100, letter) for letter in "a\xe4\u20ac\U0001f600"]
    held += [
        str(len(texts)) + text_of(7, "\xe4"),
        b"".join([b"ab", b"c"]),
        bytearray(b"ab" * 9),
        -(2**70),
        0.1 + len(held),
    ]
    "".join(held[4:5]).encode()
    assert_same([held, texts, {1.5 * len(held): text_of(3)}])


@walks
def test_nothing_is_held_when_the_result_is_gone(walk: Callable[..., Walk]) -> None:
    target, array = Target(), Array(10_001)
    CONTENTS[10_001] = [target]
    held = [array, target]
    before = [sys.getrefcount(item) for item in (target, array, held, Target, Array, list)]
    for _ in range(3):
        walk([held, target], classify=classify, contents=contents_of, extra=held)

    assert [sys.getrefcount(item) for item in (target, array, held, Target, Array, list)] == before


@needs_native
def test_a_list_that_changes_under_the_walk_is_noticed() -> None:
    objects: list[object] = [[], {}]

    def ask(kind: type) -> int:
        objects.clear()
        return 0

    with pytest.raises(RuntimeError, match="changed"):
        walk_native(objects, classify=ask)


@needs_native
def test_every_failing_allocation_ends_in_a_memory_error() -> None:
    testcapi = pytest.importorskip("_testcapi", reason="this Python was built without its own test module")
    target, array = Target(), Array(10_001)
    CONTENTS[10_001] = [target, (1.5,)]
    objects: list[object] = [[array, 3j], target, *([target] for _ in range(300))]
    counted = [target, array]
    before = [sys.getrefcount(item) for item in counted]
    failures, finished = 0, False
    while not finished:
        testcapi.set_nomemory(failures, failures + 1)
        try:
            walk_native(objects, classify=classify, contents=contents_of)
            finished = failures > 400
        except MemoryError:
            pass
        finally:
            testcapi.remove_mem_hooks()
        failures += 1

    assert [sys.getrefcount(item) for item in counted] == before


def new_list_of(*first: object, places: int) -> list[object]:
    """A list as C code makes one before it fills it: empty places after the first ones."""
    new, put, keep = (ctypes.pythonapi[name] for name in ("PyList_New", "PyList_SetItem", "Py_IncRef"))
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_ssize_t]
    put.argtypes = [ctypes.py_object, ctypes.c_ssize_t, ctypes.py_object]
    keep.argtypes = [ctypes.py_object]
    made: list[object] = new(places)
    for place, item in enumerate(first):
        keep(item)  # the list takes this one
        put(made, place, item)
    return made


@pytest.mark.parametrize("is_filled", [heapwalk.is_filled_python, pytest.param(heapwalk.is_filled, marks=needs_native)])
def test_a_sequence_that_is_still_being_filled_is_told_from_a_full_one(is_filled: Callable[[Any], bool]) -> None:
    seen = []

    def items() -> Iterator[str]:
        yield "first"
        yield "second"
        (half,) = (item for item in gc.get_objects() if type(item) is tuple and gc.get_referents(item) == SECOND_FIRST)
        seen.extend([is_filled(half), heapwalk.filled_places(half)])
        del half

    class Row(tuple[Any, ...]):
        pass

    tuple(items())
    unfilled = new_list_of(1, "two", places=4)

    assert seen == [False, ["first", "second"]]
    assert [is_filled(item) for item in (unfilled, [], (), [None], ("a", "b"), Row((1, 2)), Row(()))] == [
        *(False, True, True, True, True, True, True)
    ]
    assert heapwalk.filled_places(unfilled) == [1, "two"]
    del unfilled[2:]


SECOND_FIRST = ["second", "first"]


def inside_of(array: object) -> list[object]:
    return CONTENTS.get(int(array.real), [])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("wrapped", "leads"),
    [
        (lambda array: (array, "text"), True),
        (lambda array: {"array": array, "number": 3}, True),
        (lambda array: ("text", (1, (array, 2))), True),
        (lambda array: ((((((array,),),),),),), False),
        (lambda array: (str(array), array.real), False),
    ],
    ids=["tuple", "dict", "nested", "too deep", "no array"],
)
@walks
def test_tables_that_the_collector_does_not_track_lead_on_through_arrays(
    walk: Callable[..., Walk], wrapped: Callable[[complex], object], leads: bool
) -> None:
    """As a tuple of NumPy arrays that are views of tensors; a collection stops tracking it."""
    array, target = complex(float("7001")), Target()
    CONTENTS[7_001] = [target]
    table = wrapped(array)
    rows = [table, target]
    for _ in range(6):
        gc.collect()  # untracks tuples from the inside out
    assert not gc.is_tracked(table)
    options: dict[str, Any] = {"classify": complex_is_an_array, "contents": inside_of}

    found = walk([rows, target], least_bytes=1 << 20, **options)

    reached = {id(node) for node in found.nodes}
    assert (id(table) in reached, id(array) in reached) == (leads, leads)
    assert_same([rows, target], weights=(0, 1, 200, 1 << 20), extra=[table], **options)


@walks
def test_arrays_that_hold_nothing_make_no_table_a_node(walk: Callable[..., Walk]) -> None:
    target = Target()
    rows = [(complex(float("7002")), "text"), target]
    gc.collect()

    found = walk([rows, target], classify=complex_is_an_array, contents=inside_of, least_bytes=1 << 20)

    assert names_of(found, rows=rows, target=target) == (["rows", "target"], ["rows -> target"])
