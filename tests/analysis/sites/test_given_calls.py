"""Which of several calls gave a library's container what it keeps."""

from __future__ import annotations

import pytest

from suspects import hop
from tenure.analysis.sites.given_calls import by_the_calls_that_name_it
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Hop

MINE = "/home/me/loop.py"
LIBRARY = "/usr/lib/python3.12/contextlib.py"
TEXT = """\
def fit(self, loader):
    self.scope.enter_context(seeded(0))
    self.scope.callback(self.model.eval)
    self.scope.enter_context(self.stager.stage(raw))
    self.scope.push(Closing(raw))
"""
STAGE = hop("LOCAL", "staged", "generator", "torch.Tensor", source_name="Stager.stage", file="/home/me/staging.py")
CLOSING = hop("INDEX", "3", "tuple", "loop.Closing")
ELSEWHERE = hop("LOCAL", "x", "generator", "torch.Tensor", source_name="Stager.other", file="/home/me/staging.py")
OF_C = hop("LOCAL", "x", "generator", "torch.Tensor", source_name="stage")


def lines(*path: Hop, library: bool = True) -> list[int]:
    sites = tuple(SourceLocation(MINE, line, "fit") for line in (2, 3, 4, 5))
    inside = (SourceLocation(LIBRARY, 540, "ExitStack._push_exit_callback"),) if library else ()
    holder = HoldingReference("attribute", "_exit_callbacks", "self.scope._exit_callbacks[*]", sites=sites,
                              library_sites=inside)  # fmt: skip
    return [site.line for site in by_the_calls_that_name_it(holder, path, {MINE: SourceFile(MINE, TEXT)}).sites]


@pytest.mark.parametrize(
    ("path", "told"),
    [((STAGE,), [4]), ((CLOSING,), [5]), ((CLOSING, STAGE), [4, 5]), ((ELSEWHERE,), [2, 3, 4, 5]), ((), [2, 3, 4, 5])],
    ids=["a suspended function", "an object's class", "both", "neither", "no path"],
)
def test_the_calls_that_are_given_what_is_on_the_path_are_told(path: tuple[Hop, ...], told: list[int]) -> None:
    assert lines(*path) == told


def test_a_name_without_a_file_of_the_programs_and_a_container_of_ones_own_tell_nothing() -> None:
    assert lines(OF_C) == [2, 3, 4, 5]
    assert lines(STAGE, library=False) == [2, 3, 4, 5]
