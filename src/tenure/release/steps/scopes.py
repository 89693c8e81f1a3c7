"""`tenure.step_scope()`: what a step binds does not carry its graph into the next step.

A loop's variables live until they are bound again, which for most of them is after the next forward has run: two
graphs are alive at once. At the end of the scope every name that was bound inside has the same values without the
graph. Names that were bound before it, attributes of objects and lists that someone else holds are not touched; where
a graph survives in them, the outcome says by which name.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar

from tenure.errors import UsageError
from tenure.model.units import format_bytes
from tenure.release.held import TensorRef, who_holds_tensors
from tenure.release.outcome import Survivor, describe_survivor
from tenure.release.steps.bound_names import BoundNames, check_names, is_with_statement, names_bound_between
from tenure.release.steps.cut_names import Left, cut_values
from tenure.release.steps.frame_names import read_names, rebind_names
from tenure.release.steps.plain_cut import Note

_Function = TypeVar("_Function", bound=Callable[..., Any])
_NOTHING: frozenset[str] = frozenset()
_FRAME_AND_VALUES = 2
_MOST_SHOWN = 3
RESULT = "the returned value"
_MOST_BLOCKS = 256
_blocks: dict[tuple[int, int], _Block] = {}
"""By a code object's id and the offset where its `with` statement begins."""


@dataclass(frozen=True)
class CarriedName:
    """A name that would have carried graphs into the next step.

    `num_graphs` tensors behind it had a graph, `num_cut` of them were cut off it, and `num_survived` live on all the
    same, graph and all, because somebody else holds them. `bytes` and `survived_bytes` are those of the tensors
    themselves: what their graphs held on to beside is not measured here. `left` says why something was not cut; ""
    where all was.
    """

    name: str
    type: str
    num_graphs: int
    num_cut: int
    num_survived: int
    bytes: int
    left: str = ""
    survived_bytes: int = 0


@dataclass(frozen=True)
class ScopeOutcome:
    """What one step would have carried, name by name; empty (and false) where there was nothing to cut.

    What survived is judged when the outcome is read. Who holds it is found out when that is asked for.
    """

    carried: tuple[CarriedName, ...] = ()
    _tensors: tuple[TensorRef, ...] = field(default=(), compare=False, repr=False)
    """What survived, by the name that it had in the step."""

    def __bool__(self) -> bool:
        return bool(self.carried)

    @property
    def before_bytes(self) -> int:
        """Tensors that carried a graph when the step ended."""
        return sum(each.bytes for each in self.carried)

    @property
    def after_bytes(self) -> int:
        """Those of them that carry it on."""
        return sum(each.survived_bytes for each in self.carried)

    @property
    def survived(self) -> tuple[str, ...]:
        """Names whose graphs live on, held by someone else; `survivors` says by whom."""
        return tuple(each.name for each in self.carried if each.num_survived)

    @functools.cached_property
    def survivors(self) -> tuple[Survivor, ...]:
        """Who holds the tensors that survived, with path and cut, asked of a census once; () where none did.

        Costs that census, one to two collections, where something survived, and nothing elsewhere.
        """
        return who_holds_tensors(self._tensors)

    def __str__(self) -> str:
        lines = [*map(_describe, self.carried)]
        for survivor in self.survivors[:_MOST_SHOWN]:
            lines += describe_survivor(survivor)
        return "\n".join(lines) or "no name carried a graph"


class StepScope:
    """Made by `step_scope`: the scope of one `with` block, or of every call of the function that it decorates."""

    __slots__ = ("_block", "_frame", "_keep", "_left", "_notes")

    def __init__(self, keep: Collection[str]) -> None:
        self._notes: Sequence[Note] = ()
        self._left: Left = {}
        self._keep = frozenset(keep) if keep else _NOTHING
        self._frame: FrameType | None = None
        self._block: _Block | None = None

    @property
    def outcome(self) -> ScopeOutcome:
        """What the step that ended last would have carried on, and what of it lives on now."""
        by_name: dict[str, list[Note]] = {}
        for note in self._notes:
            by_name.setdefault(note[0], []).append(note)
        carried = tuple(_carried(notes, *self._left.get(name, (0, ""))) for name, notes in by_name.items())
        alive = tuple((f"`{note[0]}`", note[4]) for note in self._notes if note[4] is not None and _lives(note))
        return ScopeOutcome(carried, _tensors=alive)

    def __enter__(self) -> StepScope:
        frame = sys._getframe(1)
        block = _blocks.get((id(frame.f_code), frame.f_lasti))
        if block is None:
            block = _new_block(frame)
        self._frame, self._block = frame, block
        return self

    def __exit__(self, kind: object, error: object, trace: TracebackType | None) -> None:
        frame, block = self._frame, self._block
        self._frame = self._block = None
        if frame is None or block is None:  # the same scope was entered twice, and has been left already
            return
        end = frame.f_lasti if trace is None else _raised_at(trace, frame)
        try:
            self._notes, self._left = _cut_names(frame, block.names(end), self._keep)
        except Exception as failure:  # a mistake of ours must not end the training
            self._notes, self._left = (), {}
            text = f"tenure.step_scope left this step as it is: {type(failure).__name__}: {failure}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def __call__(self, function: _Function) -> _Function:
        """The function, whose results come back without a graph; its variables end with each call anyway."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            name = getattr(function, "__qualname__", str(function))
            raise UsageError(
                f"step_scope cannot decorate the generator {name}: its variables live on between its values; "
                "put `with tenure.step_scope():` around the step inside it"
            )
        if not callable(function):
            raise UsageError(f"step_scope decorates a function, not a {type(function).__name__}")
        wrapped: _Function = _wrap(self, function)
        return wrapped

    def end_call(self, values: dict[str, Any]) -> Any:
        """A decorated call is over: its result without graphs. `values` alone holds it, under the name RESULT."""
        notes, left, anew = cut_values(values, holders=1)
        result = anew.get(RESULT, values[RESULT])
        del anew
        values.clear()
        self._notes, self._left = notes, left
        return result


def step_scope(*, keep: Collection[str] = ()) -> StepScope:
    """`with tenure.step_scope():` around the body of a training loop, or `@tenure.step_scope()` on a step function.

    When the block ends, also by an exception, every name bound inside it that leads to a tensor with a graph has the
    same values without one. Names in `keep` carry theirs on, as truncated backpropagation through time wants.
    Of a decorated function the result comes back without graphs. Values, gradients and random numbers stay as they
    are; nothing waits for a device. Some microseconds per step (docs/step-scope.md).

    Raises UsageError where it is not the `with` statement's own expression, and for a generator function.
    """
    if keep != ():
        check_names("step_scope", keep)
    return StepScope(keep)


def _wrap(scope: StepScope, function: Any) -> Any:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            return scope.end_call({RESULT: await function(*args, **kwargs)})

        wrapped: Any = awaited
    else:

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            return scope.end_call({RESULT: function(*args, **kwargs)})

        wrapped = called
    wrapped.scope = scope
    return wrapped


class _Block:
    """A `with` statement: what it binds, by the offset where it was left. Holds the code, and so keeps its id."""

    __slots__ = ("_by_end", "_code", "_start")

    def __init__(self, code: CodeType, start: int) -> None:
        self._code = code
        self._start = start
        self._by_end: dict[int, BoundNames] = {}

    def names(self, end: int) -> BoundNames:
        known = self._by_end.get(end)
        if known is None:
            known = self._by_end[end] = names_bound_between(self._code, self._start, end)
        return known


def _new_block(frame: FrameType) -> _Block:
    _check_with_statement(frame)
    if len(_blocks) >= _MOST_BLOCKS:  # cells of a notebook, each with a code of its own
        _blocks.clear()
    block = _blocks[id(frame.f_code), frame.f_lasti] = _Block(frame.f_code, frame.f_lasti)
    return block


def _check_with_statement(frame: FrameType) -> None:
    if not is_with_statement(frame.f_code, frame.f_lasti):
        raise UsageError(
            f"step_scope() was entered by {frame.f_code.co_name}(), not by a `with` statement; which names it is to "
            "watch is read from that statement: write `with tenure.step_scope():` in the function itself"
        )


def _raised_at(trace: TracebackType, frame: FrameType) -> int:
    """The instruction of `frame` that an exception came from: what stands before it has run."""
    return trace.tb_lasti if trace.tb_frame is frame else frame.f_lasti


def _cut_names(frame: FrameType, names: BoundNames, keep: frozenset[str]) -> tuple[Sequence[Note], Left]:
    values = read_names(frame, names, keep)
    if not values:
        return (), {}
    notes, left, anew = cut_values(values, holders=_FRAME_AND_VALUES)
    if anew:
        reason = rebind_names(frame, anew, names)
        if reason:  # they still lead to what they led to
            left |= {name: (len({note[2] for note in notes if note[0] == name}), reason) for name in anew}
        anew.clear()
    values.clear()
    return notes, left


def _carried(notes: Sequence[Note], num_left: int, left: str) -> CarriedName:
    """What became of one name. What of its tensors still lives, now that the name has let go, is held by someone
    else."""
    each_once = {note[2]: note for note in notes}.values()
    num_bytes = sum(note[3] for note in each_once)
    alive = [note[3] for note in each_once if _lives(note)]
    num_cut = len(each_once) - num_left
    return CarriedName(*notes[0][:2], len(each_once), num_cut, len(alive), num_bytes, left, sum(alive))


def _lives(note: Note) -> bool:
    return note[4] is not None and note[4]() is not None


def _describe(carried: CarriedName) -> str:
    tensors = "1 tensor" if carried.num_graphs == 1 else f"{carried.num_graphs} tensors"
    text = f"`{carried.name}` ({carried.type}): {tensors} with a graph, {format_bytes(carried.bytes)}"
    text += ", cut" if carried.num_cut == carried.num_graphs else f"; {carried.num_cut} cut"
    if carried.left:
        text += f": {carried.left}"
    elif carried.num_survived:
        text += f"; {carried.num_survived} of them live on: someone else holds them"
    return text
