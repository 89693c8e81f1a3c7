"""One rule of growth for the recorder and the reports, and one horizon for what each view tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from report.findings import kept_loss
from report.test_outlook import OUTLOOK
from tenure.analysis.watching.slow_growth import find_slow_growth
from tenure.capture.sampling.trend import TrendWatch
from tenure.live.lines import forecast_line, soonest_end
from tenure.live.view import ProcessView
from tenure.model.finding import Forecast
from tenure.model.growth_rule import LEAST_RISE, goes_on_rising, is_near, rises_throughout
from tenure.model.outlook import Ahead
from tenure.report.terminal import say_forecast

STEPS = np.arange(1.0, 513.0)


@pytest.mark.parametrize(("levels", "told"), [((0, 1, 2, 3), True), ((0, 2, 2, 3), False), ((0, 1, 2, 2.9), False)])
def test_each_part_lies_higher_and_the_last_by_the_least_rise(levels: tuple[float, ...], told: bool) -> None:
    assert rises_throughout(levels, least_rise=3) is told


@pytest.mark.parametrize(
    ("slopes", "told"),
    [((1, 1, 1, 1), True), ((1, 0, 1, 1), True), ((0, 0, 1, 1), False), ((1, 1, 1, 0.3), False), ((1, 1, 1, 0), False)],
)
def test_most_parts_rise_by_themselves_and_the_last_not_much_more_slowly(slopes: tuple[float, ...], told: bool) -> None:
    assert goes_on_rising([(slope, 0.1) for slope in slopes]) is told


@pytest.mark.parametrize("name", ["allocated_bytes", "rss_bytes"])
@pytest.mark.parametrize(("share", "told"), [(0.5, False), (3.0, True)])
def test_the_recorder_and_the_reports_hold_back_the_same_small_rises(name: str, share: float, told: bool) -> None:
    values = 1e9 + share * LEAST_RISE[name] / 512 * STEPS
    watch = TrendWatch()
    for step, value in zip(STEPS, values, strict=True):
        watch.add(int(step), {name: int(value)})

    assert (watch.look() is not None) is told
    assert (find_slow_growth(STEPS, values, least_rise=LEAST_RISE[name]) is not None) is told


@pytest.mark.parametrize(("days", "told"), [(29.0, True), (31.0, False)])
def test_the_dashboard_and_findings_tell_an_end_up_to_the_same_day(days: float, told: bool) -> None:
    seconds = days * 86400
    counters = tuple(replace(each, ahead=Ahead("host", 1, seconds, 1, None, 1.0)) for each in OUTLOOK.counters)
    view = ProcessView("run", "run", replace(OUTLOOK, counters=counters), (), (), {}, 0, ())
    finding = kept_loss(forecast=Forecast("host", 1, seconds, (1, 2), seconds, (1, 2)))

    assert [soonest_end(view) is not None, bool(forecast_line(view)), bool(say_forecast(finding))] == [told] * 3
    assert is_near(seconds) is told


def test_an_end_of_which_no_time_is_known_is_told() -> None:
    assert Ahead("host", 1, 10.0**9, 1, None, None).is_told
