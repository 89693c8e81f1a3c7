"""Names of references: which attribute, key, index, variable or closure an object refers to another by.

Only reads: no user code runs (no `__getattr__`, `__repr__`, `__iter__` of user classes), nothing is materialised
where the interpreter keeps an instance's attributes inline and the native walker is there.
"""

from __future__ import annotations

import collections
import contextvars
import functools
import gc
import itertools
import queue
import re
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from tenure.capture.guarding.classes import bases_of, dict_offset_of, module_of, name_of, own_of
from tenure.capture.heap import frames, heapwalk
from tenure.capture.tensors.nested import instance_dict
from tenure.model.heap import ReferenceKind as Kind

Named = tuple[object, Kind, str]
"""A referent with the kind and label of the reference to it."""

_PLAIN_KEYS = frozenset(map(id, (str, int, float, bool, bytes, type(None))))
_MAX_KEY = 60


def key_text(key: object) -> str:
    """A dict key as it would be written, without calling user code: other objects read `<TypeName>`. Of a long one the
    beginning, of a long path the end: what tells it from others, whatever folder it lies in."""
    if id(type(key)) in _PLAIN_KEYS:
        text = repr(key)
        if len(text) <= _MAX_KEY:
            return text
        is_path = type(key) is str and re.match(r"/|[A-Za-z]:[\\/]", key)
        return f"{text[0]}…{text[2 - _MAX_KEY :]}" if is_path else text[: _MAX_KEY - 1] + "…"
    if type(key) is tuple and len(key) <= 4:
        return "(" + ", ".join(key_text(item) for item in key) + ("," if len(key) == 1 else "") + ")"
    return f"<{name_of(type(key))}>"


def named_referents(owner: object) -> list[Named]:
    """Everything `owner` refers to that has a name; a referent missing here is a reference of kind OTHER."""
    named: list[Named] = []
    try:
        named.extend(_namer_of(type(owner))(owner))
    except (ReferenceError, ValueError):
        pass  # a proxy whose object is gone, an empty cell
    return named


def dict_items(owner: dict[Any, Any], *, kind: Kind = Kind.ITEM) -> Iterator[Named]:
    """Values by key (or by variable name, with `kind` GLOBAL); keys as members."""
    for key, value in list(dict.items(owner)):
        yield value, kind, str(key) if kind is Kind.GLOBAL else key_text(key)
        yield key, Kind.MEMBER, "key"


def _of_sequence(owner: Any) -> Iterator[Named]:
    base = tuple if issubclass(type(owner), tuple) else list
    for index, value in enumerate(base.__iter__(owner) if heapwalk.is_filled(owner) else heapwalk.filled_places(owner)):
        yield value, Kind.INDEX, str(index)
    yield from _of_instance(owner)


def _of_deque(owner: collections.deque[Any]) -> Iterator[Named]:
    for index, value in enumerate(collections.deque.__iter__(owner)):
        yield value, Kind.INDEX, str(index)
    yield from _of_instance(owner)


def _of_set(owner: Any) -> Iterator[Named]:
    base = frozenset if issubclass(type(owner), frozenset) else set
    for value in base.__iter__(owner):
        yield value, Kind.MEMBER, ""


def _of_dict(owner: dict[Any, Any]) -> Iterator[Named]:
    yield from dict_items(owner)
    if type(owner) is not dict:
        yield from _of_instance(owner)


def _of_cell(owner: types.CellType) -> Iterator[Named]:
    yield owner.cell_contents, Kind.CONTENTS, ""


def _of_function(owner: types.FunctionType) -> Iterator[Named]:
    if owner.__dict__:
        yield owner.__dict__, Kind.DICT, "__dict__"
    yield owner.__closure__, Kind.OTHER, "__closure__"
    yield owner.__defaults__, Kind.OTHER, "__defaults__"
    yield owner.__kwdefaults__, Kind.OTHER, "__kwdefaults__"


def inner_parts(owner: object) -> Iterable[tuple[object, list[Named]]]:
    """Containers that are details of `owner`, each with what it holds by name; nothing for most objects.

    A function's closure and defaults, the list inside a `SimpleQueue`, the tables by thread of a `threading.local`,
    and until Python 3.11 the frame of what waits, which owns its variables there.
    """
    cls = type(owner)
    if _HAS_OWN_FRAME and id(cls) in _FRAME_OF:
        return _frame_parts(owner)
    if cls is types.FunctionType:
        return _function_parts(owner)  # type: ignore[arg-type]
    if cls is queue.SimpleQueue:
        return _queue_parts(owner)
    if issubclass(cls, threading.local):
        return _thread_local_parts(owner)
    return ()


def _queue_parts(owner: object) -> Iterator[tuple[object, list[Named]]]:
    for container in gc.get_referents(owner):
        if type(container) is list:
            yield container, [(value, Kind.INDEX, str(index)) for index, value in enumerate(container)]


def _thread_local_parts(owner: object) -> Iterator[tuple[object, list[Named]]]:
    for container in gc.get_referents(owner):
        if type(container) is dict and all(type(key) is weakref.ref for key in container):
            yield container, [(values, Kind.DICT, "__dict__") for values in container.values()]


def _function_parts(owner: types.FunctionType) -> Iterator[tuple[object, list[Named]]]:
    """The containers inside a function (closure tuple, defaults), each with what it holds by variable name."""
    code = owner.__code__
    if owner.__closure__:
        cells = zip(owner.__closure__, code.co_freevars, strict=False)
        yield owner.__closure__, [(cell, Kind.CELL, name) for cell, name in cells]
    if owner.__defaults__:
        names = code.co_varnames[: code.co_argcount][-len(owner.__defaults__) :]
        defaults = zip(owner.__defaults__, names, strict=False)
        yield owner.__defaults__, [(value, Kind.DEFAULT, name) for value, name in defaults]
    if owner.__kwdefaults__:
        yield (
            owner.__kwdefaults__,
            [(value, Kind.DEFAULT, name) for name, value in owner.__kwdefaults__.items()],
        )


def _of_method(owner: types.MethodType) -> Iterator[Named]:
    yield owner.__self__, Kind.SELF, "__self__"
    yield owner.__func__, Kind.ATTRIBUTE, "__func__"


def _of_partial(owner: functools.partial[Any]) -> Iterator[Named]:
    yield owner.func, Kind.ATTRIBUTE, "func"
    yield owner.args, Kind.ATTRIBUTE, "args"
    yield owner.keywords, Kind.ATTRIBUTE, "keywords"


def _of_cache(owner: Any) -> Iterator[Named]:
    wrapped = owner.__wrapped__
    yield wrapped, Kind.ATTRIBUTE, "__wrapped__"
    yield owner.__dict__, Kind.DICT, "__dict__"


def _of_weak_reference(owner: weakref.ref[Any]) -> Iterator[Named]:
    yield vars(weakref.ref)["__callback__"].__get__(owner), Kind.ATTRIBUTE, "__callback__"
    yield from _of_instance(owner)


def _of_context_tree(owner: object) -> Iterator[Named]:
    """Values of context variables by the variables' names: a value stands before its variable, as it is traversed."""
    referents = gc.get_referents(owner)
    for value, key in itertools.pairwise(referents):
        if type(key) is contextvars.ContextVar:
            yield value, Kind.ITEM, key.name


_HAS_OWN_FRAME = sys.version_info < (3, 11)
"""Until Python 3.11 what waits owns a frame object, and that owns the variables."""
_FRAME_OF = {
    id(types.GeneratorType): "gi_frame",
    id(types.CoroutineType): "cr_frame",
    id(types.AsyncGeneratorType): "ag_frame",
}


def _frame_parts(owner: object) -> Iterator[tuple[object, list[Named]]]:
    frame = getattr(owner, _FRAME_OF[id(type(owner))])
    if frame is not None:
        yield frame, list(_of_frame(frame))


def _of_suspended(owner: Any) -> Iterator[Named]:
    if _HAS_OWN_FRAME:
        return  # `inner_parts`
    variables = frames.suspended_locals(owner)
    for name, value in variables:
        yield value, Kind.LOCAL, name
    yield from _cells_of(owner, variables)


def _cells_of(holder: object, variables: frames.Locals) -> Iterator[Named]:
    """The cells of those variables that a function inside shares, as a comprehension does until Python 3.12."""
    cells = [each for each in gc.get_referents(holder) if type(each) is types.CellType]
    names = {id(value): name for name, value in variables} if cells else {}
    for cell in cells:
        try:
            name = names.get(id(cell.cell_contents))
        except ValueError:  # nothing is bound to it
            continue
        if name is not None:
            yield cell, Kind.LOCAL, name


def _of_frame(owner: types.FrameType) -> Iterator[Named]:
    variables = frames.locals_of(owner)
    for name, value in variables:
        yield value, Kind.LOCAL, name
    yield from _cells_of(owner, variables)
    yield owner.f_back, Kind.ATTRIBUTE, "f_back"


def _of_traceback(owner: types.TracebackType) -> Iterator[Named]:
    yield owner.tb_frame, Kind.ATTRIBUTE, "tb_frame"
    yield owner.tb_next, Kind.ATTRIBUTE, "tb_next"


def _of_exception(owner: BaseException) -> Iterator[Named]:
    for name in ("__traceback__", "__context__", "__cause__", "args"):
        yield getattr(BaseException, name).__get__(owner), Kind.ATTRIBUTE, name
    yield from _of_instance(owner)


def _of_class(owner: type) -> Iterator[Named]:
    return iter(())


def _of_instance(owner: object) -> Iterator[Named]:
    inline = heapwalk.instance_values(owner)
    if inline is not None:
        for name, value in inline:
            yield value, Kind.ATTRIBUTE, name
    elif dict_offset_of(type(owner)):
        yield instance_dict(owner), Kind.DICT, "__dict__"
    for name, descriptor in _slots_of(type(owner)):
        try:
            yield descriptor.__get__(owner), Kind.ATTRIBUTE, name
        except AttributeError:
            continue


def attribute_values(owner: object) -> Iterator[object]:
    """What an instance's own attributes and slots have, as the interpreter keeps them; runs nothing of its class."""
    yield from (instance_dict(owner) or {}).values()
    for _, descriptor in _slots_of(type(owner)):
        with suppress(AttributeError):
            yield descriptor.__get__(owner)


_Slots = tuple[tuple[str, types.MemberDescriptorType], ...]
_SLOTS: dict[int, tuple[weakref.ref[type], _Slots]] = {}
"""By the class's id, until the class goes."""


def _slots_of(cls: type) -> _Slots:
    known = _SLOTS.get(id(cls))
    if known is not None and known[0]() is cls:
        return known[1]
    slots = tuple(
        (name, value)
        for base in bases_of(cls)
        for name, value in own_of(base).items()
        if type(value) is types.MemberDescriptorType and not name.startswith("__")
    )
    _SLOTS[id(cls)] = weakref.ref(cls, functools.partial(_forget_slots, id(cls))), slots
    return slots


def _forget_slots(number: int, gone: weakref.ref[type]) -> None:
    if number in _SLOTS and _SLOTS[number][0] is gone:
        del _SLOTS[number]


_NAMERS: tuple[tuple[type, Callable[[Any], Iterator[Named]]], ...] = (
    (dict, _of_dict),
    (list, _of_sequence),
    (tuple, _of_sequence),
    (collections.deque, _of_deque),
    (set, _of_set),
    (frozenset, _of_set),
    (types.CellType, _of_cell),
    (types.FunctionType, _of_function),
    (types.MethodType, _of_method),
    (functools.partial, _of_partial),
    (functools._lru_cache_wrapper, _of_cache),
    (types.GeneratorType, _of_suspended),
    (types.CoroutineType, _of_suspended),
    (types.AsyncGeneratorType, _of_suspended),
    (types.FrameType, _of_frame),
    (types.TracebackType, _of_traceback),
    (BaseException, _of_exception),
    (weakref.ref, _of_weak_reference),
    (type, _of_class),
)


def _namer_of(cls: type) -> Callable[[Any], Iterator[Named]]:
    namer = _NAMER_BY_TYPE.get(id(cls))
    if namer is None and name_of(cls) in CONTEXT_TREES and module_of(cls) == "builtins":
        namer = _NAMER_BY_TYPE[id(cls)] = _of_context_tree
    if namer is None:
        namer = next((namer for base, namer in _NAMERS if issubclass(cls, base)), _of_instance)
        if id(cls) in _EXACT or (own_of(cls).get("__module__") is None and module_of(cls) == "builtins"):
            _NAMER_BY_TYPE[id(cls)] = namer
    return namer


CONTEXT_TREES = ("hamt_bitmap_node", "hamt_array_node", "hamt_collision_node")
"""Types that a `contextvars.Context` keeps its variables in; Python gives them no other name."""
_EXACT = frozenset(id(base) for base, _ in _NAMERS)
_NAMER_BY_TYPE: dict[int, Callable[[Any], Iterator[Named]]] = {}
"""By id, of the interpreter's own types alone: these never go."""
