from textwrap import dedent

import pytest

from tenure.analysis.sites.binding_sites import resolve_sites
from tenure.analysis.sites.state_sites import places_of_change
from tenure.model.source import SourceFile
from tenure.model.suspect import HoldingReference

MEAN = HoldingReference("attribute", "mean", "net.norm.mean", owner_type="lib.norm.Norm", scope_file="train.py")
RUNNING = HoldingReference("global", "running", "running", scope_file="train.py")


def lines(text: str, reference: HoldingReference, file: str) -> list[int]:
    """Lines of the statements that hang a graph on the state."""
    sources = {file: SourceFile(file, dedent(text), "library" if file.startswith("lib") else "yours")}
    return [site.line for site in places_of_change(reference, resolve_sites(reference, sources, growing=True), sources)]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("self.mean.mul_(0.9).add_(x * 0.1)", [5]),
        ("self.mean[0] = x", [5]),
        ("self.other.add_(x)", [3]),
        ("self.mean = self.mean * 0.9 + x", [5]),
    ],
)
def test_a_buffer_is_told_where_it_is_changed_and_not_where_it_was_registered(change: str, expected: list[int]) -> None:
    text = f"""\
    class Norm(nn.Module):
        def __init__(self):
            self.register_buffer("mean", torch.zeros(8))
        def forward(self, x):
            {change}
    """

    assert lines(text, MEAN, "lib/norm.py")[:1] == expected


def test_a_buffer_that_is_bound_by_a_computed_name_is_told_where_it_is_bound_last() -> None:
    text = """\
    class Norm(nn.Module):
        def __init__(self):
            self.register_buffer("mean", None)
        def decay(self, name, value):
            if getattr(self, name) is None:
                self.register_buffer(name, value)
                return
            self.register_buffer(name, getattr(self, name) * 0.9 + value)
    """

    assert lines(text, MEAN, "lib/norm.py") == [8, 6]


def test_a_variable_is_told_where_the_loop_changes_it() -> None:
    text = """\
    running = torch.zeros(8)
    for x in batches:
        running.lerp_(net(x).mean(0), 0.1)
        seen.add_(x)
    """

    assert lines(text, RUNNING, "train.py") == [3]


def test_what_nothing_is_seen_to_change_stays_where_it_was_bound() -> None:
    assert lines("running = torch.zeros(8)\n", RUNNING, "train.py") == [1]


POINT = """\
class Point:
    def __init__(self, raw, smooth=None):
        self.raw, self.smooth = raw, smooth
        {more}
class Curve:
    def __init__(self):
        self.last = Point(0.0, torch.zeros(()))
    def update(self, loss):
        self.last = Point({given})
    def reset(self):
        {reset}
"""


@pytest.mark.parametrize(
    ("given", "more", "reset", "expected"),
    [
        ("loss, self.last.smooth + loss", "pass", "pass", [9]),
        ("loss, smooth=self.last.smooth + loss", "pass", "pass", [9]),
        ("loss", "pass", "pass", [3]),
        ("loss, self.last.smooth + loss", "self.smooth = smooth or raw", "pass", [3, 4]),
        ("loss, self.last.smooth + loss", "pass", "self.last.smooth = 0", [9]),
    ],
)
def test_a_record_that_is_made_anew_is_told_where_it_is_made_with_the_value(
    given: str, more: str, reset: str, expected: list[int]
) -> None:
    smooth = HoldingReference(
        "attribute", "smooth", "curve.last.smooth", owner_type="train.Point", scope_file="train.py"
    )

    found = lines(POINT.format(given=given, more=more, reset=reset), smooth, "train.py")
    assert found[: len(expected)] == expected
