from __future__ import annotations

import collections
import functools
import gc
import sys
import threading
import types
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from capture.reading import Reading
from tenure.capture.heap.autograd import identity_of, is_autograd_type
from tenure.capture.heap.census import take_census
from tenure.model.heap import BUFFERS_FREED, FROZEN, GRAPH_CONTINUES, ITERATOR, NodeKind, Role
from tenure.model.heap import ReferenceKind as Kind

LISTS_ALL_OBJECTS = True

KIB = 1024


def read(**arguments: object) -> Reading:
    return Reading(take_census(step=1, moment="request", **arguments))  # type: ignore[arg-type]


def kib(number: int = 1) -> torch.Tensor:
    """A float tensor of so many KiB."""
    return torch.zeros(number * KIB // 4)


class Holder:
    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)


class Slotted:
    __slots__ = ("kept",)


@pytest.mark.slow
def test_a_local_list_of_tensors_is_told_from_frame_to_storage() -> None:
    history = [kib(1), kib(2)]

    census = read()

    element = census.path((Kind.LOCAL, "history"), (Kind.INDEX, "1"), start=census.frame("from_frame_to_storage"))
    assert census.node_of(history[1]) == element
    assert census.kind(element) is NodeKind.TENSOR
    assert list(census.storages_below(element).values()) == [(2 * KIB, Role.OTHER)]


@pytest.mark.slow
def test_an_attribute_is_reached_through_the_instance_and_its_dict() -> None:
    holder = Holder(losses={"train": [kib()]})

    census = read()

    node = census.path(
        Kind.DICT, (Kind.ITEM, "'losses'"), (Kind.ITEM, "'train'"), (Kind.INDEX, "0"), start=census.node_of(holder)
    )
    assert census.type(node) == "torch.Tensor"


@pytest.mark.slow
def test_an_instance_whose_attributes_lie_inline_tells_their_names() -> None:
    class Plain:
        def __init__(self) -> None:
            self.kept = kib()

    plain = Plain()

    census = read()

    (edge,) = [edge for edge in census.out[census.node_of(plain)] if edge[0] in (Kind.ATTRIBUTE, Kind.DICT)]
    assert edge[:2] in ((Kind.ATTRIBUTE, "kept"), (Kind.DICT, "__dict__"))


def test_a_slot_is_an_attribute() -> None:
    slotted = Slotted()
    slotted.kept = kib()

    census = read()

    assert census.out[census.node_of(slotted)] == [(Kind.ATTRIBUTE, "kept", census.node_of(slotted.kept))]


def test_closure_variables_defaults_partials_methods_and_caches_have_their_names() -> None:
    kept = kib()

    def closure() -> torch.Tensor:
        return kept

    def default(value: torch.Tensor = kib(), *, keyword: torch.Tensor = kib()) -> None: ...

    @functools.lru_cache
    def cached(number: int) -> torch.Tensor:
        return kib(number)

    holder = Holder(kept=kib())
    holder.method = Holder.__init__.__get__(holder)
    part, of_builtin = functools.partial(Holder.__init__, kib()), functools.partial(print, kib())
    of_method = functools.partial(holder.method, kib())
    cached(3)

    census = read()

    assert census.path((Kind.CELL, "kept"), Kind.CONTENTS, start=census.node_of(closure)) == census.node_of(kept)
    assert census.kind(census.path((Kind.DEFAULT, "value"), start=census.node_of(default))) is NodeKind.TENSOR
    assert census.kind(census.path((Kind.DEFAULT, "keyword"), start=census.node_of(default))) is NodeKind.TENSOR
    assert census.bytes_below(census.path(Kind.CACHED, start=census.node_of(cached))) == 3 * KIB
    assert census.path(Kind.SELF, start=census.node_of(holder.method)) == census.node_of(holder)
    assert census.name(census.node_of(holder.method)) == "Holder.__init__"
    assert census.path((Kind.ATTRIBUTE, "args"), (Kind.INDEX, "0"), start=census.node_of(part)) > 0
    names = [census.name(census.node_of(each)) for each in (part, of_method, of_builtin)]
    assert names == ["Holder.__init__", "Holder.__init__", ""]


def test_variables_of_suspended_generators_and_coroutines_are_named() -> None:
    def generate():
        batch = kib()
        yield
        del batch

    async def wait():
        state = kib()
        await future
        del state

    class Future:
        def __await__(self):
            yield

    future = Future()
    generator, coroutine = generate(), wait()
    next(generator)
    coroutine.send(None)

    census = read()

    batch = census.path((Kind.LOCAL, "batch"), start=census.node_of(generator))
    state = census.path((Kind.LOCAL, "state"), start=census.node_of(coroutine))
    assert (census.kind(batch), census.kind(state)) == (NodeKind.TENSOR, NodeKind.TENSOR)
    coroutine.close()


def test_a_suspended_generator_s_variable_that_a_function_inside_shares_goes_by_its_name() -> None:
    def generate():
        batch, parts = kib(), [1, 2]
        yield lambda: (batch, parts, unbound)
        unbound = 1

    generator = generate()
    next(generator)

    census = read()

    batch = census.path((Kind.LOCAL, "batch"), (Kind.CONTENTS, ""), start=census.node_of(generator))
    assert census.kind(batch) == NodeKind.TENSOR


@pytest.mark.slow
def test_every_threads_frames_are_roots() -> None:
    entered, leave = threading.Event(), threading.Event()

    def work() -> None:
        batch = kib(5)
        entered.set()
        leave.wait()
        del batch

    thread = threading.Thread(target=work)
    thread.start()
    entered.wait()

    census = read()

    leave.set()
    thread.join()
    assert census.bytes_below(census.path((Kind.LOCAL, "batch"), start=census.frame("work"))) == 5 * KIB


@pytest.mark.slow
def test_a_module_whose_code_still_runs_tells_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    running, ended = (types.ModuleType(name) for name in ("running_script", "ended_script"))
    taken = []
    for module in (running, ended):
        module.__file__ = f"{module.__name__}.py"
        monkeypatch.setitem(sys.modules, module.__name__, module)
        module.__dict__.update(kept=[kib()], take=lambda: taken.append(read().census))
    exec(compile("x = 1", "ended_script.py", "exec"), ended.__dict__)

    exec(compile("x = 1\n\ntake()", "running_script.py", "exec"), running.__dict__)

    nodes = taken[0].nodes
    lines = {taken[0].text(name): line for name, line in zip(nodes.name.tolist(), nodes.line.tolist(), strict=True)}
    assert (lines["running_script"], lines["ended_script"]) == (3, 0)


def test_object_arrays_deques_and_dict_keys_are_looked_into() -> None:
    array = np.empty(3, dtype=object)
    array[1] = kib()
    recent = collections.deque([kib()], maxlen=4)
    keyed = {kib(): 1}
    holder = Holder(array=array, recent=recent, keyed=keyed)

    census = read()

    below = Kind.DICT
    start = census.node_of(holder)
    assert census.kind(census.path(below, (Kind.ITEM, "'array'"), Kind.INDEX, start=start)) is NodeKind.TENSOR
    assert census.kind(census.path(below, (Kind.ITEM, "'recent'"), Kind.INDEX, start=start)) is NodeKind.TENSOR
    assert census.kind(census.path(below, (Kind.ITEM, "'keyed'"), Kind.MEMBER, start=start)) is NodeKind.TENSOR
    node = census.node_of(recent)
    assert (census.census.nodes.length[node], census.census.nodes.bound[node]) == (1, 4)


@pytest.mark.slow
def test_arrays_of_tensors_are_found_in_tuples_that_a_collection_stopped_tracking() -> None:
    """A tuple of arrays is nothing to the collector; `(predictions.numpy(), labels.numpy())` keeps two tensors."""
    rounds = [(kib(1).numpy(), kib(2).numpy())]
    gc.collect()
    assert not gc.is_tracked(rounds[0])

    census = read()

    tensor = census.path(
        (Kind.LOCAL, "rounds"), (Kind.INDEX, "0"), (Kind.INDEX, "0"), (Kind.ATTRIBUTE, "base"),
        start=census.frame("stopped_tracking"),
    )  # fmt: skip
    assert list(census.storages_below(tensor).values()) == [(KIB, Role.OTHER)]


@pytest.mark.slow
def test_an_optimizers_bound_is_among_its_defaults() -> None:
    optimizer = torch.optim.LBFGS([nn.Parameter(kib())], history_size=7)

    census = read()

    assert census.census.nodes.bound[census.node_of(optimizer)] == 7


def test_what_the_graph_saved_hangs_below_grad_fn() -> None:
    x = kib(4).requires_grad_()
    y = (x * 2).exp()

    census = read()

    node = census.path(Kind.GRAD_FN, start=census.node_of(y))
    assert (census.kind(node), census.type(node)) == (NodeKind.AUTOGRAD, "ExpBackward0")
    assert census.path((Kind.SAVED, "result"), start=node) == census.path(Kind.STORAGE, start=census.node_of(y))
    leaf = census.path((Kind.NEXT, "0"), (Kind.NEXT, "0"), (Kind.NEXT, "variable"), start=node)
    assert leaf == census.node_of(x)


@pytest.mark.slow
def test_a_graph_freed_by_backward_is_known_by_its_empty_slots() -> None:
    x = kib().requires_grad_()
    loss = x.exp().sum()
    loss.backward()

    census = read()

    exp = census.path(Kind.GRAD_FN, (Kind.NEXT, "0"), start=census.node_of(loss))
    assert census.census.nodes.flags[exp] & BUFFERS_FREED
    assert [kind for kind, _, _ in census.out[exp]] == [Kind.NEXT]


@pytest.mark.slow
def test_attributes_of_a_custom_functions_ctx_hang_below_its_node() -> None:
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.extra = x * 2
            ctx.save_for_backward(x)
            return x + 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    y = Keeps.apply(kib(2).requires_grad_())

    census = read()

    node = census.path(Kind.GRAD_FN, start=census.node_of(y))
    assert census.type(node) == "KeepsBackward"
    assert census.kind(census.path(Kind.DICT, (Kind.ITEM, "'extra'"), start=node)) is NodeKind.TENSOR
    assert census.path((Kind.SAVED, "tensors[0]"), start=node) > 0


@pytest.mark.slow
def test_a_small_view_pins_its_whole_storage_and_says_so() -> None:
    scalar = kib(64).detach()[0]

    census = read()

    storage = census.path(Kind.STORAGE, start=census.node_of(scalar))
    row = census.census.storages.node.tolist().index(storage)
    assert (census.census.storages.bytes[row], census.census.storages.view_bytes[row]) == (64 * KIB, 4)


@pytest.mark.slow
def test_a_storage_without_a_tensor_counts_where_an_object_holds_it_and_once_where_tensors_share_it() -> None:
    alone, shared = kib(3).untyped_storage(), kib(5)
    holder = Holder(
        alone=alone, shared=shared.untyped_storage(), nowhere=torch.empty(9, device="meta").untyped_storage()
    )

    census = read()

    assert sorted(census.storages_below(census.node_of(holder)).values()) == [
        (3 * KIB, Role.OTHER),
        (5 * KIB, Role.OTHER),
    ]
    assert (
        census.storages_below(census.node_of(shared)).items() <= census.storages_below(census.node_of(holder)).items()
    )


@pytest.mark.slow
def test_a_storage_shared_by_two_views_counts_once() -> None:
    base = kib(8)
    pair = [base[:10], base[10:]]

    census = read()

    assert census.bytes_below(census.node_of(pair)) == 8 * KIB


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.torch.cpu.amp.autocast:FutureWarning")  # torch 2.4's own checkpointing
@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpointing_is_not_recomputed_and_its_inputs_are_found(use_reentrant: bool) -> None:
    calls = []
    layer = nn.Linear(16, 16)

    def block(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return layer(x).relu()

    x = torch.randn(32, 16, requires_grad=True)
    y = checkpoint(block, x, use_reentrant=use_reentrant)

    census = read()

    assert len(calls) == 1
    below = census.storages_below(census.path(Kind.GRAD_FN, start=census.node_of(y)))
    assert census.path(Kind.STORAGE, start=census.node_of(x)) in below
    y.sum().backward()
    assert len(calls) == 2


@pytest.mark.filterwarnings("ignore:.torch.cpu.amp.autocast:FutureWarning")
def test_an_input_that_only_a_checkpoint_keeps_is_found_below_its_graph() -> None:
    y = checkpoint(torch.exp, kib(2).requires_grad_().sin(), use_reentrant=False, preserve_rng_state=False)

    census = read()

    # its own, the leaf that sin saved, and sin's result, from which exp is to be computed again
    assert census.bytes_below(census.node_of(y)) == 6 * KIB


def test_saved_tensor_hooks_do_not_run_and_what_they_packed_is_found() -> None:
    unpacked = []

    def unpack(packed: tuple[str, torch.Tensor]) -> torch.Tensor:
        unpacked.append(1)
        return packed[1]

    x = kib(2).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: ("packed", tensor.clone()), unpack):
        y = x.exp()

    census = read()

    assert unpacked == []
    node = census.path(Kind.GRAD_FN, start=census.node_of(y))
    packed = census.path((Kind.HOOK, "result"), start=node)
    assert census.bytes_below(packed) == 2 * KIB


@pytest.mark.slow
def test_what_a_pack_hook_gave_back_as_it_was_is_owned_by_its_graph_alone() -> None:
    x = kib(2).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        y = x.exp()

    census = read()

    node = census.node_of(y)
    assert census.path(Kind.GRAD_FN, (Kind.HOOK, "result"), start=node) == node
    assert census.census.nodes.unseen[node] == 0
    y.sum().backward()  # ends the ring


@pytest.mark.slow
def test_the_graph_of_a_compiled_function_shows_what_it_saved() -> None:
    layer = nn.Linear(64, 64)
    compiled = torch.compile(lambda x: layer(x).sin().cos(), backend="aot_eager")
    y = compiled(torch.randn(128, 64, requires_grad=True))

    census = read()

    node = census.path(Kind.GRAD_FN, start=census.node_of(y))
    assert census.type(node) == "CompiledFunctionBackward"
    saved = {census.census.storages.node.tolist().index(t) for k, _, t in census.out[node] if k is Kind.SAVED}
    assert sum(int(census.census.storages.bytes[row]) for row in saved) >= 128 * 64 * 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_sparse_and_nested_tensors_count_their_parts() -> None:
    sparse = torch.sparse_coo_tensor(torch.tensor([[0, 5]]), torch.ones(2), (10,), check_invariants=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its CSR support beta
        csr = torch.sparse_csr_tensor(torch.arange(9), torch.arange(8), torch.ones(8), (8, 8))
    nested = torch.nested.nested_tensor([torch.ones(100), torch.ones(50)], layout=torch.jagged)

    census = read()

    assert census.bytes_below(census.node_of(sparse)) == 2 * 8 + 2 * 4
    assert census.bytes_below(census.node_of(csr)) == 9 * 8 + 8 * 8 + 8 * 4
    assert census.bytes_below(census.node_of(nested)) >= 150 * 4


class Doubling(torch.autograd.Function):
    """A node that is written in Python."""

    @staticmethod
    def forward(ctx: Any, values: torch.Tensor) -> torch.Tensor:
        return values * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * 2


def test_the_nodes_of_a_graph_that_lives_on_are_the_same_in_each_census() -> None:
    """Before torch 2.13 what Python sees of a node is made anew for each who asks."""
    loss = Doubling.apply(torch.ones(3, requires_grad=True).exp()).sum()

    first, second = (
        {
            reading.type(node): int(reading.census.nodes.address[node])
            for node in range(len(reading.census.nodes.kind))
            if reading.kind(node) is NodeKind.AUTOGRAD
        }
        for reading in (read(), read())
    )

    kept = ("SumBackward0", "DoublingBackward", "ExpBackward0")
    assert len({first[name] for name in kept}) == len(kept)
    assert [second[name] for name in kept] == [first[name] for name in kept]
    assert loss.grad_fn is not None


def test_nodes_made_where_others_went_are_not_the_same_in_the_next_census() -> None:
    """A training step's graph mostly comes to lie where the last one did."""
    weight = torch.ones(3, requires_grad=True)

    def identities_of_a_step() -> set[int]:
        loss = Doubling.apply(weight.exp()).sum()
        followers = (loss.grad_fn, *(node for node, _ in loss.grad_fn.next_functions))
        return {identity_of(node) for node in followers}

    steps = [identities_of_a_step() for _ in range(20)]

    assert [len(each) for each in steps] == [2] * 20
    assert len(set.union(*steps)) == 40


@pytest.mark.slow
def test_meta_and_fake_tensors_weigh_nothing() -> None:
    from torch._subclasses import FakeTensorMode

    meta = torch.empty(10**6, device="meta")
    with FakeTensorMode():
        fake = torch.empty(10**6)

    census = read()

    assert census.bytes_below(census.node_of(meta)) == census.bytes_below(census.node_of(fake)) == 0


@pytest.mark.slow
def test_what_a_graph_of_fake_tensors_saves_weighs_nothing() -> None:
    """As a compiler keeps them, with what it has traced."""
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        weight = torch.ones(64, 64, requires_grad=True)
        last = torch.relu(torch.ones(16, 64) @ weight).exp().grad_fn

    census = read()

    assert census.type(census.node_of(last)) == "ExpBackward0"
    assert census.bytes_below(census.node_of(last)) == 0


@pytest.mark.slow
def test_the_gradient_of_a_parameter_that_was_frozen_later_is_found() -> None:
    layer = nn.Linear(4, 4)
    layer(torch.ones(1, 4)).sum().backward()
    layer.requires_grad_(False)

    census = read()

    gradient = census.path(Kind.GRAD, start=census.node_of(layer.weight))
    assert gradient == census.node_of(layer.weight.grad)
    assert list(census.storages_below(gradient).values()) == [(64, Role.GRADIENT)]


def test_reading_a_tensor_subclass_runs_none_of_its_code() -> None:
    ran = []

    class Traced(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            ran.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    traced = kib(3).as_subclass(Traced)
    ran.clear()

    census = read()

    assert ran == []
    assert census.bytes_below(census.node_of(traced)) == 3 * KIB
    assert census.type(census.node_of(traced)).endswith("Traced")


def roles_in(found: Reading) -> collections.Counter[str]:
    return collections.Counter(Role(int(role)).name for role in found.census.storages.role)


class Shard(torch.Tensor):
    """Stands for a larger tensor, of which it has a part."""

    __slots__ = ("part",)

    @staticmethod
    def __new__(cls, part: torch.Tensor) -> Shard:
        made = torch.Tensor._make_wrapper_subclass(cls, (2 * len(part),), dtype=part.dtype)
        made.part = part
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is torch.ops.aten.detach.default:
            return Shard(args[0].part)
        raise NotImplementedError(function)


@pytest.mark.slow
def test_the_part_of_a_shard_has_the_role_of_the_shard() -> None:
    weight = nn.Parameter(Shard(torch.ones(1000)))
    weight.grad = Shard(torch.ones(1000))

    census = read()

    parts = census.node_of(weight.part), census.node_of(weight.grad.part)
    assert [[role for _, role in census.storages_below(part).values()] for part in parts] == [
        [Role.PARAMETER],
        [Role.GRADIENT],
    ]


@pytest.mark.slow
def test_each_storage_has_the_role_it_is_for() -> None:
    gc.collect()
    others = roles_in(read())  # what other tests have left in this process
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))
    optimizer = torch.optim.Adam(model.parameters())
    batch = torch.randn(4, 8)
    hidden = model(batch)
    hidden.sum().backward()
    optimizer.step()
    other = kib()
    again = model(batch).relu()

    census = read(inputs=((batch,), {}))

    roles = {
        name: next(role for _, role in census.storages_below(census.node_of(item)).values())
        for name, item in {
            "parameter": model[0].weight.detach(),
            "batch": batch,
            "other": other,
        }.items()
        if census.node_of(item) >= 0
    }
    assert roles == {"batch": Role.INPUT, "other": Role.OTHER}
    by_role = roles_in(census)
    by_role.subtract(others)
    assert by_role["PARAMETER"] == 4
    assert by_role["GRADIENT"] == 4
    assert by_role["OPTIMIZER_STATE"] == 3 * 4
    assert by_role["BUFFER"] >= 3
    assert Role.ACTIVATION in {role for _, role in census.storages_below(census.node_of(again)).values()}


@pytest.mark.slow
def test_a_gradient_hangs_below_its_leaf() -> None:
    x = kib().requires_grad_()
    x.sum().backward()

    census = read()

    assert census.path(Kind.GRAD, start=census.node_of(x)) == census.node_of(x.grad)


@pytest.mark.slow
def test_a_gradient_that_is_retained_hangs_below_its_tensor() -> None:
    x = kib().requires_grad_()
    y = x * 2
    y.retain_grad()
    y.sum().backward()

    census = read()

    assert census.path(Kind.GRAD, start=census.node_of(y)) == census.node_of(y.grad)
    assert list(census.storages_below(census.node_of(y.grad)).values()) == [(KIB, Role.GRADIENT)]


def test_a_gradient_made_with_create_graph_leads_into_its_graph() -> None:
    x = kib().requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch warns of the very ring
        x.square().sum().backward(create_graph=True)

    census = read()

    node = census.path(Kind.GRAD, Kind.GRAD_FN, start=census.node_of(x))
    assert census.kind(node) == NodeKind.AUTOGRAD
    assert census.bytes_below(node) > 2 * KIB  # what was saved for another backward, not only the leaf and its gradient
    x.grad = None


def test_a_cycle_has_no_unseen_owner_and_a_temporary_on_the_evaluation_stack_has() -> None:
    ring = Holder(kept=kib())
    ring.me = ring
    dead = weakref.ref(ring)
    address = id(ring)
    gc.disable()
    del ring

    for _ in [kib(7)]:
        census = read()
    gc.enable()

    assert dead() is not None
    node = census.census.nodes.address.tolist().index(address)
    assert census.census.nodes.unseen[node] == 0
    holders = census.holders_of(7 * KIB)
    assert {census.type(n): int(census.census.nodes.unseen[n]) for n in holders}["tuple_iterator"] == 1


def test_the_cell_of_a_running_functions_variable_is_owned_by_that_function() -> None:
    """A comprehension makes one until Python 3.12, and with it nobody could have dropped the variable; so does a
    function inside, also of a variable that two functions running share."""
    shared, free = kib(7), kib(9)

    def inside() -> tuple[Reading, torch.Tensor]:
        return read(), free

    sizes = [shared.numel() for _ in range(2)]
    census, _ = inside()

    holders = (*census.holders_of(7 * KIB), *census.holders_of(9 * KIB))
    cells = [int(census.census.nodes.unseen[n]) for n in holders if census.type(n) == "cell"]
    assert (cells, len(sizes)) == ([0, 0], 2)


class Prefetcher:
    """Goes through a batch that it has already."""

    def __init__(self, batch: torch.Tensor) -> None:
        self.batch = batch

    def __iter__(self) -> Prefetcher:
        return self

    def __next__(self) -> torch.Tensor:
        return self.batch


def test_plain_parameters_that_ask_for_no_gradient_are_marked() -> None:
    class Quantised(torch.nn.Parameter):
        pass

    frozen, trained = torch.nn.Parameter(kib(4), requires_grad=False), torch.nn.Parameter(kib(5))
    plain, own = kib(6), Quantised(kib(7), requires_grad=False)

    census = read()

    marked = [bool(census.census.nodes.flags[census.node_of(each)] & FROZEN) for each in (frozen, trained, plain, own)]
    assert marked == [True, False, False, False]


def test_what_a_loop_goes_through_is_known_by_its_type() -> None:
    for _ in Prefetcher(kib(7)):
        census = read()
        break

    marked = {census.type(n) for n in np.flatnonzero(census.census.nodes.flags & ITERATOR)}
    (name,) = (each for each in marked if each.endswith(".Prefetcher"))
    assert not {"dict", "list", "tuple"} & (marked - {name})


@pytest.mark.slow
def test_a_tensor_that_only_python_holds_has_no_unseen_and_no_native_owner() -> None:
    holder = Holder(kept=kib(), leaf=kib().requires_grad_())
    product = holder.leaf * 2

    census = read()

    nodes = census.census.nodes
    kept, leaf = census.node_of(holder.kept), census.node_of(holder.leaf)
    assert (nodes.unseen[kept], nodes.native[kept]) == (0, 0)
    assert nodes.unseen[leaf] == 0
    assert nodes.native[leaf] > 0
    assert product.grad_fn is not None


@pytest.mark.slow
def test_nothing_of_ours_holds_anything() -> None:
    kept = kib()

    read()
    again = read()

    assert [again.type(s) for _, _, s in again.into[again.node_of(kept)]] == ["frame"]
    ours = [n for n in range(len(again.census.nodes.kind)) if again.type(n).startswith("tenure.")]
    assert ours == []


@pytest.mark.slow
def test_a_census_leaves_the_collector_as_it_was_and_nothing_behind() -> None:
    kept = [kib() for _ in range(10)]
    read()
    gc.collect()
    before = len(gc.get_objects())
    gc.disable()

    take_census(step=1, moment="request")

    was_enabled = gc.isenabled()
    gc.enable()
    gc.collect()
    assert not was_enabled
    assert len(gc.get_objects()) - before <= 5
    assert len(kept) == 10


def test_a_local_dies_at_once_after_a_census_saw_it() -> None:
    kept = kib()
    gone = weakref.ref(kept)
    take_census(step=1, moment="request")

    del kept

    assert gone() is None


def walked_nodes_keep_wrappers() -> bool:
    """Newer torch keeps a node's wrapper for the node's life, older torch drops it with the last reference."""
    total = torch.zeros(1, requires_grad=True).exp().sum()
    wrapper = id(total.grad_fn)
    return any(id(item) == wrapper and is_autograd_type(type(item)) for item in gc.get_objects())


@pytest.mark.slow
def test_a_graph_beyond_the_budget_ends_with_a_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.capture.heap.autograd.MAX_NODES_PER_GRAPH", 50)
    before = sum(is_autograd_type(type(item)) for item in gc.get_objects())
    total = torch.zeros(1, requires_grad=True)
    for _ in range(200):
        total = total + 1

    first = read()
    second = read()

    walked = [n for n in range(len(first.census.nodes.kind)) if first.kind(n) is NodeKind.AUTOGRAD]
    assert len(walked) <= 55 + before
    assert sum(bool(first.census.nodes.flags[n] & GRAPH_CONTINUES) for n in walked) == 1
    wrapped = sum(type(item).__name__ == "AddBackward0" for item in gc.get_objects())
    assert wrapped <= 55
    assert any("deeper than can be walked" in note for note in second.census.notes)


def test_views_that_refuse_to_tell_their_graph_are_read_all_the_same_and_flagged() -> None:
    whole = torch.ones(6, requires_grad=True) * 1
    first, second = whole.split(3)
    whole.mul_(2)
    with pytest.raises(RuntimeError, match="returns multiple views"):
        _ = first.is_leaf

    census = read()

    flags = [int(census.census.nodes.flags[census.node_of(view)]) & GRAPH_CONTINUES for view in (first, second)]
    assert all(flags)
    assert list(census.storages_below(census.node_of(first)).values()) == [(24, Role.ACTIVATION)]
    assert census.census.notes == ()


@pytest.mark.slow
def test_many_ways_into_one_graph_share_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.capture.heap.autograd.MAX_NODES_PER_GRAPH", 50)
    before = sum(is_autograd_type(type(item)) for item in gc.get_objects())
    states = [torch.zeros(1, requires_grad=True)]
    for _ in range(400):
        states.append(states[-1].sin())
    states.reverse()

    first = read()
    second = read()

    wrapped = sum(is_autograd_type(type(item)) for item in gc.get_objects()) - before
    assert (wrapped > 0) is walked_nodes_keep_wrappers()
    assert wrapped <= 110
    assert sum(bool(flag & GRAPH_CONTINUES) for flag in first.census.nodes.flags) > 300
    assert any("deeper than can be walked" in note for note in second.census.notes)


@pytest.mark.slow
def test_what_only_the_graph_holds_is_no_way_into_it() -> None:
    """Saved intermediates keep their Python objects; asking each for its node would walk past every budget."""
    deep = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(300)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tenure.capture.heap.autograd.MAX_NODES_PER_GRAPH", 50)
        before = sum(type(item).__name__ == "AddmmBackward0" for item in gc.get_objects())
        loss = deep(torch.ones(1, 2)).sum()

        read()

        wrapped = sum(type(item).__name__ == "AddmmBackward0" for item in gc.get_objects()) - before
        assert (wrapped > 0) is walked_nodes_keep_wrappers()
        assert wrapped <= 60
    assert loss.grad_fn is not None


@pytest.mark.slow
def test_graphs_kept_side_by_side_are_each_walked_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.capture.heap.autograd.MAX_NODES_PER_GRAPH", 50)
    weight = torch.zeros(1, requires_grad=True)
    losses = []
    for count in (1, 2):
        for _ in range(20):
            losses.append((weight * 2).exp().sum())

        census = read()

        flags = census.census.nodes.flags
        assert not any(int(flag) & GRAPH_CONTINUES for flag in flags), count
    assert census.census.notes == ()


def test_frozen_objects_cannot_be_listed_and_the_census_says_so() -> None:
    gc.freeze()
    try:
        census = read()
    finally:
        gc.unfreeze()

    assert any("are frozen (gc.freeze)" in note for note in census.census.notes)


class _Asked(type):
    """Raises, while told to, whatever is asked of its classes."""

    raises = False

    def __getattribute__(cls, name: str) -> object:
        _Asked.refuse()
        return super().__getattribute__(name)

    def __hash__(cls) -> int:
        _Asked.refuse()
        return 1

    def __eq__(cls, other: object) -> bool:
        _Asked.refuse()
        return cls is other

    @staticmethod
    def refuse() -> None:
        if _Asked.raises:
            raise RuntimeError("a metaclass was asked")


def test_classes_whose_metaclass_raises_are_read_as_any_others(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = [(object, ("held",)), (Holder, ()), (dict, ("held",))]
    kinds = [_Asked(base.__name__, (base,), {"__slots__": slots, "kept": kib()}) for base, slots in bodies]
    held: list[object] = [kind() for kind in kinds]
    for item in held:
        item.held = [kib(), {kinds[0]: kib()}]  # type: ignore[attr-defined]

    def below(raises: bool) -> list[tuple[object, ...]]:
        monkeypatch.setattr(_Asked, "raises", raises)
        census = read()
        monkeypatch.setattr(_Asked, "raises", False)
        nodes, seen = [census.node_of(item) for item in (*held, *kinds)], []
        for node in nodes:
            nodes += [target for _, _, target in census.out.get(node, ()) if target not in nodes]
            out = [(kind, label, nodes.index(target)) for kind, label, target in census.out.get(node, ())]
            seen.append((census.kind(node), census.type(node), census.name(node), out))
        return seen

    quiet = below(raises=False)

    assert below(raises=True) == quiet
    assert len(quiet) > 3 * len(kinds)
