from __future__ import annotations

import dataclasses
from collections.abc import Callable

from heaps import census
from suspects import HOP, carried, hop, suspect
from tenure.analysis.host.system_growth import find_system_growth, with_what_threads_hold
from tenure.model.heap import Census
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import Suspect

STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24)
FILL = "thread Loader.fill /home/me/loader.py"
LOADER = SourceFile(
    "/home/me/loader.py",
    """
class Loader:
    def start(self):
        other = Thread(target=self.watch)
        self.worker = threading.Thread(target=self.fill, daemon=True)


class Reader(Thread):
    def run(self):
        pass


def read():
    reader = Reader()
    return open("x"), Pool(2)


def share():
    with Manager() as manager:
        segment = SharedMemory(create=True, size=9)


def later():
    Timer(9, print, (reader,)).start()
""",
)
SOURCES = {LOADER.path: LOADER}


def counted(name: str, value: Callable[[int], int]) -> list[Census]:
    return [dataclasses.replace(census("", step=step), counts={name: value(step)}) for step in STEPS]


def found_in(name: str, value: Callable[[int], int]) -> list[Suspect]:
    return list(find_system_growth(counted(name, value), SOURCES))


def places(found: list[Suspect]) -> list[tuple[str, tuple[SourceLocation, ...]]]:
    return [(each.holder.name, each.holder.sites) for each in found]


def test_threads_that_pile_up_are_told_with_the_statement_that_starts_them() -> None:
    (found,) = found_in(FILL, lambda step: step)

    assert places([found]) == [("worker", (SourceLocation(LOADER.path, 5, "Loader.start"),))]
    assert found.facts == {
        "counted": "threads",
        "first_count": 1,
        "last_count": 24,
        "thread": "Loader.fill",
        "thread_file": "/home/me/loader.py",
    }
    assert (found.device, found.growth_objects_per_step, found.retained_bytes) == ("host", 1.0, 0)


def test_a_class_of_threads_is_started_where_it_is_made() -> None:
    found = found_in("thread Reader.run /home/me/loader.py", lambda step: step)

    assert places(found) == [("reader", (SourceLocation(LOADER.path, 14, "read"),))]


def test_timers_that_wait_are_started_where_they_are_made() -> None:
    found = found_in("thread Timer.run /usr/lib/python3.12/threading.py", lambda step: step)

    assert places(found) == [("Timer", (SourceLocation(LOADER.path, 24, "later"),))]


def test_files_and_processes_are_told_by_who_opens_them() -> None:
    line = (SourceLocation(LOADER.path, 15, "read"),)

    assert places(found_in("files", lambda step: 9 + step)) == [("open", line)]
    assert places(found_in("children", lambda step: step)) == [("Pool", line)]


EPOCH = """
def epoch(context):
    manager = context.Manager()
    reader = context.Process(target=read, args=(manager.dict(),))
    reader.start()
    reader.join()
"""


def test_what_is_ended_where_it_is_started_does_not_pile_up_where_something_else_may() -> None:
    def told(text: str) -> list[tuple[str, int]]:
        source = SourceFile("/home/me/epoch.py", text)
        (found,) = find_system_growth(counted("children", lambda step: step), {source.path: source})
        return [(found.holder.name, site.line) for site in found.holder.sites]

    assert told(EPOCH) == [("manager", 3)]
    assert told(EPOCH + "    manager.shutdown()\n") == [("reader", 4), ("reader", 3)]


def test_shared_memory_is_told_by_who_makes_it_and_its_files_are_not_told_again() -> None:
    segments = found_in("shared", lambda step: step)
    assert places(segments) == [("segment", (SourceLocation(LOADER.path, 20, "share"),))]

    both = [dataclasses.replace(census("", step=step), counts={"files": 9 + step, "shared": step}) for step in STEPS]
    assert list(find_system_growth(both, SOURCES)) == segments
    assert with_what_threads_hold([suspect()], segments) == (suspect(),)

    pipes = [dataclasses.replace(census("", step=step), counts={"files": step, "children": step}) for step in STEPS]
    assert [found.facts["counted"] for found in find_system_growth(pipes, SOURCES)] == ["children"]


def test_what_stays_comes_and_goes_or_rises_once_is_none() -> None:
    assert found_in("files", lambda step: 40) == []
    assert found_in("files", lambda step: 10 + step % 3) == []
    assert found_in("children", lambda step: 0 if step < 6 else 8) == []
    assert found_in("children", lambda step: step // 8) == []


def test_censuses_of_older_recordings_have_no_counts() -> None:
    assert find_system_growth([census("", step=step) for step in STEPS], SOURCES) == ()


IN_FRAME = hop("LOCAL", "item", "frame", "torch.Tensor", source_kind="FRAME", source_name="Queue.put")


def test_what_grows_in_the_frames_of_the_threads_is_told_with_them() -> None:
    threads = found_in(FILL, lambda step: step)
    held, other = suspect(path=(IN_FRAME,)), suspect(path=(HOP,), growth_objects_per_step=3.0)
    assert threads[0].growth_objects_per_step == held.growth_objects_per_step == 1.0

    (kept, told) = with_what_threads_hold([held, other], threads)

    assert kept == other
    assert (told.facts["counted"], told.device, told.path) == ("threads", held.device, held.path)
    assert (told.retained_bytes, told.growth_bytes_per_step) == (held.retained_bytes, held.growth_bytes_per_step)


def test_files_are_not_told_where_something_on_the_heap_grows() -> None:
    files = found_in("files", lambda step: step)

    assert with_what_threads_hold([suspect()], files) == (suspect(),)
    assert with_what_threads_hold([carried()], files) == (carried(), *files)
