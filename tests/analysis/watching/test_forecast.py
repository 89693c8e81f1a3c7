from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import MIB, suspect
from tenure.analysis.watching.forecast import may_be_none, with_outlook
from tenure.analysis.watching.limits import Room, room_left
from tenure.model.finding import Forecast, Interval
from tenure.model.recording import Sample, Step
from tenure.model.suspect import Series

STEPS = (1, 2, 3, 4, 6, 8, 12, 16)


def growing(device: str = "cpu", values: tuple[int, ...] = tuple(step * MIB for step in STEPS), **changes: object):
    row = Series("step-end", STEPS, values, STEPS, (0,) * len(STEPS))
    return suspect(series=row, last_step=16, device=device, **changes)


def rows(counters: dict[int, dict[str, int]], seconds: float = 0.5) -> list[Step]:
    return [Step(step, step * seconds, seconds, counters.get(step, {})) for step in range(1, 17)]


ON_HOST = {
    8: {"host_total_bytes": 200 * MIB, "host_available_bytes": 108 * MIB, "rss_bytes": 50 * MIB},
    16: {"rss_bytes": 58 * MIB},
}
IN_CGROUP = {8: {**ON_HOST[8], "cgroup_limit_bytes": 64 * MIB, "cgroup_used_bytes": 36 * MIB}, 16: ON_HOST[16]}
ON_DEVICE = {
    8: {
        "device_index": 1,
        "device_total_bytes": 900 * MIB,
        "device_free_bytes": 400 * MIB,
        "reserved_bytes": 100 * MIB,
        "allocated_peak_bytes": 80 * MIB,
    },
    16: {"reserved_bytes": 100 * MIB, "allocated_peak_bytes": 100 * MIB},
}
OF_A_SHARE = {8: {**ON_DEVICE[8], "device_allowed_bytes": 300 * MIB}, 16: ON_DEVICE[16]}


@pytest.mark.parametrize(
    ("device", "counters", "processes", "room"),
    [
        ("cpu", ON_HOST, 1, ("host", 100 * MIB)),
        ("host", ON_HOST, 1, ("host", 100 * MIB)),
        ("cpu", ON_HOST, 4, ("host", 19 * MIB)),
        ("cpu", IN_CGROUP, 1, ("cgroup", 20 * MIB)),
        ("cuda:1", ON_DEVICE, 1, ("device", 400 * MIB)),
        ("xpu:1", ON_DEVICE, 1, ("device", 400 * MIB)),
        ("cuda:1", OF_A_SHARE, 1, ("device", 200 * MIB)),
        ("cuda:0", ON_DEVICE, 1, None),
        ("mps:0", ON_HOST, 1, None),
        ("cpu", {}, 1, None),
        ("cuda:1", {16: {"allocated_peak_bytes": 7}}, 1, None),
    ],
)
def test_the_room_is_what_the_tightest_known_limit_leaves_at_the_end(
    device: str, counters: dict[int, dict[str, int]], processes: int, room: tuple[str, int] | None
) -> None:
    assert room_left(device, rows(counters), processes=processes) == (None if room is None else Room(*room))


def test_a_later_sample_says_better_what_the_host_has_left() -> None:
    later = Sample(12, 6.0, 0.001, {"host_available_bytes": 60 * MIB, "rss_bytes": 55 * MIB})

    assert room_left("cpu", rows(ON_HOST), [later]) == Room("host", 57 * MIB)


def test_growth_gets_intervals_and_the_steps_until_memory_ends() -> None:
    (told,) = with_outlook([growing()], rows(ON_HOST))

    assert (told.bytes_interval, told.objects_interval) == ((MIB, MIB), (1.0, 1.0))
    assert told.forecast == Forecast("host", 100 * MIB, 100.0, (100.0, 100.0), 50.0, (50.0, 50.0))


def test_an_unsteady_rate_gives_a_range_of_steps_around_the_likeliest() -> None:
    values = tuple(step * MIB + (MIB // 4) * (-1) ** step for step in STEPS)
    (told,) = with_outlook([growing(values=values)], rows(ON_HOST))

    assert told.bytes_interval is not None
    assert told.forecast is not None
    assert told.bytes_interval[0] < MIB < told.bytes_interval[1]
    assert told.forecast.steps_interval == (100 * MIB / told.bytes_interval[1], 100 * MIB / told.bytes_interval[0])


def test_growth_that_may_be_none_and_an_unknown_limit_have_no_forecast() -> None:
    unsure = growing(values=(0, 0, 0, 9 * MIB, MIB, 2 * MIB, 12 * MIB, 3 * MIB), growth_bytes_per_step=1.0)

    assert [each.forecast for each in with_outlook([unsure], rows(ON_HOST))] == [None]
    assert [each.forecast for each in with_outlook([growing()], rows({}))] == [None]
    assert [each.forecast for each in with_outlook([growing("cuda:0")], rows(ON_DEVICE))] == [None]


def test_what_does_not_grow_is_left_as_it_is() -> None:
    still = replace(growing(), symptom="peak", growth_bytes_per_step=None)

    assert with_outlook([still], rows(ON_HOST)) == (still,)


FELL, ROSE = (1, 3, 2), (1, 2, 3)
MAY_FALL, RISES = (-0.2, 1.1), (0.9, 1.1)


@pytest.mark.parametrize(
    ("objects", "of_bytes", "of_objects", "through_graph", "expected"),
    [
        (FELL, MAY_FALL, MAY_FALL, False, True),
        (ROSE, MAY_FALL, MAY_FALL, False, False),
        (FELL, MAY_FALL, RISES, False, False),
        (FELL, RISES, MAY_FALL, False, False),
        (FELL, None, None, False, False),
        (FELL, MAY_FALL, MAY_FALL, True, False),
    ],
)
def test_growth_that_fell_and_may_as_well_be_none_is_known(
    objects: tuple[int, ...],
    of_bytes: Interval | None,
    of_objects: Interval | None,
    through_graph: bool,
    expected: bool,
) -> None:
    row = replace(suspect().series, objects=objects)
    uneven = suspect(series=row, bytes_interval=of_bytes, objects_interval=of_objects, through_graph=through_graph)

    assert may_be_none(uneven) is expected
    assert not may_be_none(replace(uneven, symptom="sawtooth"))
