"""Threads, child processes, open files and shared memory that pile up: counted at each census, and who starts them."""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tenure.analysis.growth.trend import WARM_UP_STEP, is_growing, theil_sen
from tenure.analysis.heap.groups import fingerprint_of
from tenure.analysis.heap.host_part import HOST
from tenure.model.heap import Census
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Series, Suspect

SAME_RATE = 0.25
"""Threads, and what they hold, are counted at the same moments: a census apart they differ by one."""
LEAST_RISE = 4
"""So many more than in the first census after warm-up; pools and loaders start a few and keep them."""
_THREADS = ("Thread", "Timer")
_CHILDREN = ("Process", "Pool", "Manager", "Popen", "ProcessPoolExecutor", "DataLoader", "SyncManager")
_ENDS = ("join", "close", "terminate", "kill", "wait", "communicate", "shutdown", "cancel", "unlink")
_SHARED = ("SharedMemory", "ShareableList", "share_memory_", "RawArray", "RawValue", "Array", "Value")
_OF_KEPT_TENSORS = ("files", "shared")
"""A tensor from a worker process is a mapping of shared memory and, in most cases, an open file."""
_REGIONS = ("autocast", "profiler")
"""What is made for a `with` and counts while that goes on."""
_FILES = ("open", "mkstemp", "TemporaryFile", "NamedTemporaryFile", "socket", "FileHandler", "SummaryWriter", "memmap")


def find_system_growth(censuses: Sequence[Census], sources: Mapping[str, SourceFile]) -> tuple[Suspect, ...]:
    """A suspect on the device "host" for each count that grows; `facts` say what is counted.

    `counted` is "threads", "children", "files" or "shared"; of threads `thread` and `thread_file` name the function
    they run.
    """
    by_step = {census.step: census.counts for census in censuses if census.counts}
    steps = sorted(by_step)
    names = sorted({name for counts in by_step.values() for name in counts})
    found = []
    for name in names:
        values = [by_step[step].get(name, 0) for step in steps]
        if _piles_up(steps, values):
            found.append(_suspect(name, steps, values, sources))
    counted = {suspect.facts["counted"] for suspect in found}
    told_with = {"files": {"threads", "children", "shared"}, "shared": {"threads"}}
    return tuple(each for each in found if counted.isdisjoint(told_with.get(str(each.facts["counted"]), ())))


def with_what_threads_hold(suspects: Iterable[Suspect], counted: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """`suspects` and `counted` together; what grows in the frames of as many threads is told with the threads.

    Where something on the heap grows, files and shared memory do not count: what grows may well keep them (tensors
    that workers sent).
    """
    rest, threads = list(suspects), [each for each in counted if each.facts["counted"] == "threads"]
    others = [each for each in counted if each not in threads]
    told = []
    for thread in threads:
        held = [each for each in rest if _is_held_by(each, thread)]
        rest = [each for each in rest if each not in held]
        told.append(_with_memory(thread, held))
    heap_grows = any(each.symptom == "growth" for each in rest)
    return (*rest, *told, *(each for each in others if not (heap_grows and each.facts["counted"] in _OF_KEPT_TENSORS)))


def _is_held_by(suspect: Suspect, thread: Suspect) -> bool:
    """It starts at a frame (or an object whose owner is not seen), and comes at the rate of the threads."""
    start = suspect.path[0] if suspect.path else None
    in_frame = start is None or start.source_kind == "FRAME" or start.source_type.rpartition(".")[2] == "frame"
    rate, threads = suspect.growth_objects_per_step or 0.0, thread.growth_objects_per_step or 0.0
    return suspect.symptom == "growth" and in_frame and abs(rate - threads) <= SAME_RATE * threads


def _with_memory(thread: Suspect, held: Sequence[Suspect]) -> Suspect:
    heavy = sorted((each for each in held if each.growth_bytes_per_step), key=lambda each: -each.retained_bytes)
    if not heavy:
        return thread
    return dataclasses.replace(
        thread,
        path=heavy[0].path,
        path_text=heavy[0].path_text,
        path_targets=heavy[0].path_targets,
        device=heavy[0].device,
        retained_bytes=sum(each.retained_bytes for each in heavy),
        growth_bytes_per_step=sum(each.growth_bytes_per_step or 0.0 for each in heavy),
    )


def _piles_up(steps: Sequence[int], values: Sequence[int]) -> bool:
    late = [(step, value) for step, value in zip(steps, values, strict=True) if step > WARM_UP_STEP]
    if len(late) < LEAST_RISE or late[-1][1] - late[0][1] < LEAST_RISE:
        return False
    if any(second < first for (_, first), (_, second) in itertools.pairwise(late)):
        return False
    return is_growing([step for step, _ in late], [value for _, value in late])


def _suspect(name: str, steps: Sequence[int], values: Sequence[int], sources: Mapping[str, SourceFile]) -> Suspect:
    counted, function, file = _parts(name)
    holder = made_by(find_makers(counted, function, file, sources), otherwise=counted)
    facts: dict[str, object] = {"counted": counted, "first_count": values[0], "last_count": values[-1]}
    if function:
        facts |= {"thread": function, "thread_file": file}
    nothing = (0,) * len(steps)
    return Suspect(
        key=0,
        symptom="growth",
        path=(),
        path_text=(),
        holder=holder,
        cut=(holder,),
        retained_bytes=0,
        num_objects=values[-1],
        num_graph_nodes=0,
        device=HOST,
        bytes_by_role={},
        first_step=steps[0],
        last_step=steps[-1],
        series=Series("step-end", tuple(steps), nothing, tuple(values), nothing),
        growth_bytes_per_step=None,
        growth_objects_per_step=theil_sen(steps, values),
        fingerprint=fingerprint_of(f"count {counted} {function}"),
        ambiguous=len(holder.sites) > 1,
        facts=facts,
    )


def _parts(name: str) -> tuple[str, str, str]:
    if not name.startswith("thread "):
        return name, "", ""
    _, function, file = name.split(" ", 2)
    return "threads", function, file


def find_makers(
    counted: str, function: str, file: str, sources: Mapping[str, SourceFile]
) -> Iterator[tuple[SourceLocation, str]]:
    """Statements of the user's own sources that start what is counted, with the name that the statement gives it.

    What is ended where it was started, as by `reader.join()` in the same function, does not pile up: it is left out
    where others remain. `counted` may be "pinned", too: memory of the host that a device reads directly; "autocast":
    regions that keep what they cast; or "profiler": profilers without a schedule.
    """
    makers = [
        (
            SourceLocation(source.path, call.lineno, scope),
            _name_given(call, statement),
            _is_ended(calls, statement, scope),
        )
        for source in sources.values()
        if source.origin == "yours"
        for calls in [list(_calls(source))]
        for call, statement, scope in calls
        if _starts(call, counted, function, file)
    ]
    left = [each for each in makers if not each[2] or counted in _REGIONS] or makers
    yield from ((site, name) for site, name, _ in left)


def made_by(makers: Iterable[tuple[SourceLocation, str]], *, otherwise: str) -> HoldingReference:
    """What these statements start, by the name that the first of them gives it; a name for what none is known of."""
    found = tuple(dict.fromkeys(makers))
    name = found[0][1] if found else otherwise
    return HoldingReference(kind="unknown", name=name, expression=name, sites=tuple(site for site, _ in found))


def _is_ended(calls: Sequence[tuple[ast.Call, ast.stmt, str]], statement: ast.stmt, scope: str) -> bool:
    """Whether what a statement makes is ended in its function: by a call of the variable, or by its `with`."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return True
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name):
        return False
    ends = (call.func for call, _, around in calls if around == scope and isinstance(call.func, ast.Attribute))
    return any(each.attr in _ENDS and isinstance(each.value, ast.Name) and each.value.id == target.id for each in ends)


def _calls(source: SourceFile) -> Iterator[tuple[ast.Call, ast.stmt, str]]:
    try:
        todo: list[tuple[ast.AST, ast.stmt | None, str]] = [(ast.parse(source.text), None, "")]
    except (SyntaxError, ValueError):
        return
    while todo:
        node, statement, scope = todo.pop()
        if isinstance(node, ast.Call) and statement is not None:
            yield node, statement, scope or "<module>"
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scope = f"{scope}.{node.name}" if scope else node.name
        inner = node if isinstance(node, ast.stmt) else statement
        todo += [(child, inner, scope) for child in ast.iter_child_nodes(node)]


def _starts(call: ast.Call, counted: str, function: str, file: str) -> bool:
    called = _last_name(call.func)
    if counted == "children":
        return called in _CHILDREN
    if counted == "autocast":
        return called == "autocast" and not any(_is_without_cache(keyword) for keyword in call.keywords)
    if counted == "profiler":
        scheduled = any(keyword.arg == "schedule" for keyword in call.keywords)
        return called == "profile" and not scheduled
    if counted == "pinned":
        return called == "pin_memory" or any(keyword.arg == "pin_memory" for keyword in call.keywords)
    if counted in ("files", "shared"):
        return called in (_FILES if counted == "files" else _SHARED)
    names = function.split(".")
    if len(names) > 1 and names[-1] == "run" and called == names[-2]:
        return True
    if called in _THREADS:
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in ("target", "function"))]
        return any(_last_name(value) == names[-1] for value in given)
    return "futures" in file and called == "ThreadPoolExecutor"


def _name_given(call: ast.Call, statement: ast.stmt) -> str:
    if isinstance(statement, ast.Assign):
        return _last_name(statement.targets[0]) or _last_name(call.func)
    return _last_name(call.func)


def _is_without_cache(keyword: ast.keyword) -> bool:
    """`cache_enabled=...`, or `enabled=False`."""
    off = isinstance(keyword.value, ast.Constant) and not keyword.value.value
    return keyword.arg == "cache_enabled" or (keyword.arg == "enabled" and off)


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
