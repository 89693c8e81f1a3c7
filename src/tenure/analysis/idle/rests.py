"""When modules were called, as far as that was watched, and since when nobody has called them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tenure.analysis.heap.groups import View
from tenure.analysis.heap.modules import called_at
from tenure.model.heap import CALLED_BY_ANY

LEAST_WINDOWS = 3
LEAST_SPAN = 1 / 3
"""Of the run's steps, those before training left out: so long nobody may have called it, in so many watched windows."""
LEAST_STEPS = 8
"""Of a rest that fewer windows show: a run's last windows are long ones."""
LEAST_STEPS_AFTER_EARLY_USE = 16
"""The same where the run began with its use: without a phase before, nothing says yet that this program has phases."""
LEAST_STEPS_AFTER_PREPARING = 4
"""The same where it was used to prepare data alone, before training, for a rest that may be told with doubt."""

RESTS_TO_BREAKS = 8
"""Where a use had breaks, and was seen twice as often as one without must be, the rest is so many times as long as the
longest of them, or may be another break."""


@dataclass(frozen=True)
class Window:
    """The steps in which calls were watched between two censuses, with the addresses of the modules called."""

    step: int
    """The first of them; 1 for the first window, which begins with the program."""
    at_first_call: frozenset[int]
    """Called when a module was called for the first time, before the first step ended."""
    only_then: frozenset[int]
    """Those of them that were not called between the last such first call and the first step's end."""
    called: frozenset[int]
    present: frozenset[int]
    """Addresses of all nodes in the census that ends the window."""
    position: int
    """Of the first census after it."""
    sees_inside: bool
    """Whether calls by other modules were watched too."""
    end: int
    """The last of its steps."""
    last_calls: Mapping[int, int]
    """By address, the step in which a module was seen called last; nothing where the recording does not say."""
    prepares: bool
    """It ended before the first step of an optimizer: what counts as steps there are single calls."""


@dataclass(frozen=True)
class Rest:
    """When a module was called, and that it was not since."""

    last_step: int
    times_called: int
    times_idle: int
    at_first_call: bool
    since: int
    """Position of the first census after the window with its last call."""
    used_later: frozenset[int]
    """Addresses of the modules that were called since."""
    had_breaks: bool
    """It was not called in every window of its use."""
    began_late: bool
    """It had been there for a while when its use began, and has not rested long enough to say that this is over."""
    is_short: bool
    """It was used before training only, and has rested for less of the run than says that its use is over."""


def _longest_break(hits: Sequence[int], windows: Sequence[Window]) -> int:
    """Steps at most without a call in the middle of its use, but for those before training; 0 where all windows saw
    one."""
    breaks = [
        windows[second].end - windows[first].step
        for first, second in pairwise(hits)
        if not all(window.prepares for window in windows[first + 1 : second])
    ]
    return max(breaks, default=0)


def windows_of(ordered: Sequence[View]) -> tuple[list[Window], frozenset[int]]:
    """Windows in which at least one call was seen, and what was called since the last of them."""
    ends = {view.census.step for view in ordered if view.census.moment == "step-end"}
    windows: list[Window] = []
    called: set[int] = set()
    first_calls: set[int] = set()
    last_calls: dict[int, int] = {}
    sees_inside = False
    step = 1
    for at, view in enumerate(ordered):
        moment = view.census.moment
        now = called_at(view.graph)
        called |= now
        last_calls |= _last_calls(view)
        sees_inside |= bool(called_at(view.graph, CALLED_BY_ANY))
        if moment.startswith("first-call"):
            first_calls |= now
        if moment != "step-end" and (moment != "forward-entry" or view.census.step in ends):
            continue
        if called:
            windows.append(
                Window(
                    step=step,
                    at_first_call=frozenset(first_calls),
                    only_then=frozenset(first_calls - now),
                    called=frozenset(called),
                    present=frozenset(view.census.nodes.address.tolist()),
                    position=at + 1,
                    sees_inside=sees_inside,
                    end=view.census.step,
                    last_calls=last_calls,
                    prepares=view.census.step < min(ends, default=0),
                )
            )
        step = view.census.step + 1
        called, first_calls, last_calls, sees_inside = set(), set(), {}, False
    return windows, frozenset(called)


def _last_calls(view: View) -> dict[int, int]:
    nodes = view.census.nodes
    known = nodes.called_in > 0
    return dict(zip(nodes.address[known].tolist(), nodes.called_in[known].tolist(), strict=True))


def count_steps(last: int, windows: Sequence[Window]) -> float:
    """The run's steps, those before training left out; as many at least as ask for a rest of some steps."""
    prepared = max((window.end for window in windows if window.prepares), default=0)
    return max(last - prepared, LEAST_STEPS / LEAST_SPAN) if prepared else last


def find_rest(
    subtree: frozenset[int], address: int, windows: Sequence[Window], unfinished: frozenset[int], steps: float
) -> Rest | None:
    """When the modules of a subtree were called last, if that was once and for all."""
    hits = [at for at, window in enumerate(windows) if window.called & subtree]
    if not hits or unfinished & subtree:
        return None
    first = next(at for at, window in enumerate(windows) if address in window.present or at == hits[0])
    later = windows[hits[-1] + 1 :]
    if not later:
        return None
    ending = windows[hits[-1]]
    last_call = max((step for address, step in ending.last_calls.items() if address in subtree), default=0)
    last_step = 0 if hits[-1] == 0 and ending.called & subtree <= ending.only_then else ending.step
    rests = later[-1].end - (last_call or ending.end)
    break_between = _longest_break(hits, windows)
    if break_between and (len(hits) < 2 * LEAST_WINDOWS or rests < RESTS_TO_BREAKS * break_between):
        return None
    enough = len(later) >= LEAST_WINDOWS
    often = enough and later[-1].step - last_step >= LEAST_SPAN * steps
    least = LEAST_STEPS if hits[0] > 0 else LEAST_STEPS_AFTER_EARLY_USE
    long = len(hits) >= LEAST_WINDOWS and rests >= max(least, LEAST_SPAN * steps)
    is_short = not (often or long)
    if is_short and not (enough and rests >= LEAST_STEPS_AFTER_PREPARING and _only_prepares(hits, windows)):
        return None
    waited = 0 if windows[hits[0]].prepares else windows[hits[0]].step - windows[first].step
    phase = ending.end - windows[hits[0]].step
    return Rest(
        last_step=last_call if last_step and last_call else last_step,
        times_called=len(hits),
        times_idle=len(later),
        at_first_call=bool(windows[0].at_first_call & subtree),
        since=ending.position,
        used_later=unfinished.union(*(window.called for window in later)),
        had_breaks=break_between > 0,
        began_late=waited > 0 and (len(hits) < LEAST_WINDOWS or rests < max(2 * waited, phase)),
        is_short=is_short,
    )


def find_never_called(subtree: frozenset[int], windows: Sequence[Window], unfinished: frozenset[int]) -> Rest | None:
    """The rest of modules that were there in all windows but the first, which may make them, and called in none."""
    called = unfinished.union(*(window.called for window in windows))
    if called & subtree or not all(subtree <= window.present for window in windows[1:]):
        return None
    return Rest(
        last_step=0,
        times_called=0,
        times_idle=len(windows),
        at_first_call=False,
        since=windows[0].position,
        used_later=called,
        had_breaks=False,
        began_late=False,
        is_short=False,
    )


def _only_prepares(hits: Sequence[int], windows: Sequence[Window]) -> bool:
    """Whether it was used before training, in the window at most in which that begins."""
    return windows[hits[0]].prepares and hits[-1] <= sum(window.prepares for window in windows)
