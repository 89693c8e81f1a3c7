"""Takes a census in the middle of what C code is doing: each line names a moment and says whether the censuses saw
a tensor that is always there."""

import array
import bisect
import collections
import contextvars
import copy
import csv
import functools
import gc
import heapq
import io
import itertools
import json
import operator
import pickle
import queue
import re
import signal
import sqlite3
import sys
import threading
import types
import weakref

import numpy as np
import torch

from tenure.capture.heap.census import take_census

gc.freeze()  # what the imports have left is in nobody's middle
FEWEST = 10
MOMENTS = []
probe = torch.arange(5.0)
where = probe.data_ptr()
kept = []


def moment(function):
    MOMENTS.append(function)
    return function


def look(value=None):
    """A census, in which the probe must be."""
    census = take_census(step=1, moment="request")
    kept.append(where in census.storages.pointer.tolist())
    return value


def looks(values=(3, 1, 2)):
    for value in values:
        yield look(value)


def tensors():
    for _ in range(3):
        yield look(torch.ones(2))


class Looking:
    """Looks whenever C code asks it for anything."""

    def __init__(self, number=1):
        self.number = number
        self.weight = torch.ones(4)

    def __hash__(self):
        return look(7)

    def __eq__(self, other):
        return look(self is other)

    def __lt__(self, other):
        return look(self.number < other.number)

    def __index__(self):
        return look(self.number)

    def __float__(self):
        return look(float(self.number))

    def __len__(self):
        return look(2)

    def __getitem__(self, index):
        if index > 1:
            raise IndexError(index)
        return look(float(index))

    def __reduce__(self):
        return look((Looking, (self.number,)))

    def __deepcopy__(self, memo):
        return look(Looking(self.number))

    def __format__(self, spec):
        return look("x")

    def __bool__(self):
        return look(True)

    def __enter__(self):
        return look(self)

    def __exit__(self, *error):
        look()


class Many(tuple):
    __slots__ = ()

    def __new__(cls, values):
        return super().__new__(cls, (look(value) for value in values))


Row = collections.namedtuple("Row", "a b c")


@moment
def sequences():
    tuple(tensors()), list(tensors()), [*tensors()], (*tensors(),)
    Many((torch.ones(1), torch.ones(2))), Row._make(tensors()), Row(*tensors())
    list(zip(tensors(), tensors(), strict=True)), [*zip(*(tensors() for _ in range(3)), strict=True)]
    list(map(look, (1, 2))), list(filter(look, (1, 2))), list(itertools.chain(tensors(), tensors()))
    list(itertools.product(tensors(), repeat=2)), list(itertools.accumulate((1, 2, 3), lambda a, b: look(a + b)))
    list(itertools.groupby((1, 1, 2), key=look)), list(itertools.islice(itertools.cycle(tensors()), 5))
    rest = [0]
    rest[:] = tensors()
    rest.extend(tensors())
    rest += tensors()
    rest[1:2] = tensors()


@moment
def tables():
    dict(zip(tensors(), tensors(), strict=True)), {key: look(key) for key in tensors()}, {**{"a": look(1)}}
    pairs = ((key, look(key)) for key in "ab")
    dict(pairs), set(tensors()), frozenset(tensors()), {look(1), *tensors()}
    table = {Looking(n): torch.ones(3) for n in range(3)}
    table |= {Looking(9): torch.ones(2)}
    Looking(2) in table, table.get(Looking(1)), table.setdefault(Looking(4), torch.ones(1))
    {Looking(1), Looking(2)} & {Looking(3)}
    collections.Counter(looks()), collections.OrderedDict((key, look(key)) for key in "ab")
    collections.defaultdict(look)[3], collections.ChainMap({}, {Looking(3): 1}).get(Looking(4))


@moment
def queues():
    waiting = collections.deque(tensors(), maxlen=2)
    waiting.extend(tensors())
    heap = [Looking(n) for n in (3, 1, 2)]
    heapq.heapify(heap), heapq.heappush(heap, Looking(0)), heapq.heappop(heap), heapq.nsmallest(2, heap, key=look)
    bisect.insort(sorted(heap), Looking(2))
    ranked = queue.PriorityQueue()
    ranked.put(Looking(2)), ranked.put(Looking(1)), ranked.get()


@moment
def orders():
    sorted((3, 1, 2), key=look), sorted(Looking(n) for n in (3, 1, 2)), min((1, 2), key=look), max(looks())
    rows = [3, 1, 2]
    rows.sort(key=lambda row: look(-row))
    any(look(False) for _ in range(2)), all(looks()), sum(looks()), functools.reduce(lambda a, b: look(a + b), looks())
    [Looking(1)].count(Looking(2)), Looking(1) == Looking(2), operator.lt(Looking(1), Looking(2))
    sorted((2, 1), key=functools.cmp_to_key(lambda a, b: look(a - b)))


@moment
def texts():
    "".join(str(look(n)) for n in range(2)), f"{Looking()}", f"{Looking():x}", re.sub("a", lambda m: look("b"), "aa")
    json.dumps([{1}], default=lambda value: look(list(value)))
    json.loads('{"a": [1]}', object_hook=look, parse_int=look)
    csv.writer(io.StringIO()).writerows([look(1)] for _ in range(2)), list(csv.reader(str(look(1)) for _ in range(2)))
    bytes(looks()), bytearray(looks()), array.array("d", looks()), io.StringIO("a\nb").writelines(map(str, looks()))


@moment
def copies():
    table = {"rows": [Looking(1), (Looking(2), torch.ones(2))]}
    pickle.loads(pickle.dumps(table)), copy.deepcopy(table), copy.copy(Looking(3))
    torch.save(table, io.BytesIO())

    class Loading(pickle.Unpickler):
        def find_class(self, module, name):
            return look(super().find_class(module, name))

    Loading(io.BytesIO(pickle.dumps([table, table]))).load()


@moment
def classes():
    class Meta(type):
        @classmethod
        def __prepare__(cls, *rest):
            return look({})

        def __call__(cls, *rest):
            return look(super().__call__(*rest))

        def mro(cls):
            return look(super().mro())

    class Part:
        def __set_name__(self, owner, name):
            look()

        def __get__(self, owner, cls):
            return look(owner)

        def __set__(self, owner, value):
            look()

        def __init_subclass__(cls):
            look()

    class Owner(Part, metaclass=Meta):
        part = Part()
        weight = torch.ones(2)

    owner = Owner()
    owner.part = owner.part
    types.new_class("Made", (Part,), exec_body=lambda body: look(body.update(x=torch.ones(1))))
    type("Other", (Part,), {"part": Part()})
    functools.partial(look, torch.ones(2))(), functools.lru_cache(look)(3), functools.singledispatch(look)(2)
    (lambda *rest, **named: look())(*looks(), **{"a": look(1)})


@moment
def endings():
    class Ending:
        def __del__(self):
            look()

    ring = Ending()
    ring.own = ring
    ring.weight = torch.ones(3)
    del ring
    gc.callbacks.append(lambda phase, info: look())
    gc.collect()
    gc.callbacks.pop()
    seen = torch.ones(2)
    weakref.finalize(seen, look), weakref.ref(seen, look)
    del seen
    box = [Ending() for _ in range(3)]
    box.clear()
    box[:] = [Ending()]
    box = {n: Ending() for n in range(3)}
    box.clear()
    with Looking() as one, Looking():
        del one
    try:
        raise ValueError(look(torch.ones(2)))
    except ValueError as error:
        error.__traceback__, look()


@moment
def runs():
    def steps():
        got = yield look(1)
        try:
            yield look(got)
        finally:
            look()

    suspended = steps()
    next(suspended), suspended.send(torch.ones(2)), suspended.close()

    async def ask():
        async with Asked() as asked:
            return [look(n) async for n in asked]

    class Asked:
        async def __aenter__(self):
            return look(self)

        async def __aexit__(self, *error):
            look()

        async def __aiter__(self):
            yield look(1)

    try:
        ask().send(None)
    except StopIteration:
        pass
    contextvars.copy_context().run(look)
    thread = threading.Thread(target=look)
    thread.start(), thread.join()
    before = signal.signal(signal.SIGUSR1, lambda *rest: look())
    signal.raise_signal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)
    calls = iter(range(2))
    sys.setprofile(lambda *rest: look() if next(calls, None) is not None else None)
    len("ab"), abs(1)
    sys.setprofile(None)
    base = sqlite3.connect(":memory:")
    base.create_function("look", 1, look)
    base.execute("select look(1), look(2)").fetchall()
    base.close()


@moment
def numbers():
    np.fromiter(looks(), dtype=float), np.array([Looking(1), 2], dtype=object), np.vectorize(look)(np.arange(2))
    np.apply_along_axis(lambda row: look(row), 0, np.ones((2, 2))), np.frompyfunc(look, 1, 1)(np.arange(2))
    np.array([Looking(1), Looking(2)]), np.asarray(Looking(1)), np.ones(2)[Looking(1)]
    torch.tensor([Looking(1), Looking(2)]), torch.ones(Looking(2))
    torch.ones(3)[Looking(1)], torch.ones(2).apply_(look)
    torch.stack([torch.full((2,), float(look(n))) for n in range(2)])
    torch.cat(tuple(torch.ones(look(n)) for n in (1, 2)))


@moment
def gradients():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *values):
            ctx.save_for_backward(*values)
            return look(tuple(value * value for value in values))

        @staticmethod
        def backward(ctx, *grads):
            return look(tuple(2 * value * grad for value, grad in zip(ctx.saved_tensors, grads, strict=True)))

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, kinds, values=(), named=None):
            look()
            return super().__torch_function__(function, kinds, values, named or {})

    weight = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(look, look):
        first, second = Square.apply(weight, weight * 2)
        first.register_hook(lambda grad: look())
        (first + second).sum().backward()
    torch.ones(2).as_subclass(Logged) + 1
    torch.func.grad(lambda value: look(value.sum()))(weight), torch.vmap(lambda value: look(value * 2))(weight)
    torch.utils.checkpoint.checkpoint(lambda value: look(value * 2), weight, use_reentrant=False).sum().backward()
    layer = torch.nn.Linear(3, 3)
    layer.register_forward_hook(lambda *rest: look()), layer.register_full_backward_hook(lambda *rest: look())
    layer(weight).sum().backward()
    torch.utils._pytree.tree_map(look, {"a": [weight, (weight,)]})
    list(torch.utils.data.DataLoader([1, 2, 3], batch_size=2, collate_fn=look))


for function in MOMENTS:
    print(function.__name__, "begins", flush=True)
    kept.clear()
    function()
    print(function.__name__, len(kept) >= FEWEST and all(kept), flush=True)
