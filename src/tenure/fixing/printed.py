"""What of a program's text runs can have in common: times, rates, addresses and lines of source are made alike."""

from __future__ import annotations

import re
from collections.abc import Sequence

ALIKE = "#"
_OURS = re.compile(r"(?m)^tenure: .*\n?")
_REDRAWN = re.compile(r"[^\n\r]*\r(?=[^\n\r])")
"""What a progress bar wrote over: how often it did depends on the time."""
_WARNING = re.compile(r"(?m)^(.*\.py:\d+: \w*Warning: .*(?:\n(?! {2}).*){0,3}?)\n {2}\S.*$")
"""A warning, of several lines as torch's of `float(x)` with a graph, and the line of source below it, which may be an
edited one."""
_IS_WARNING = re.compile(r"^\S.*\.py:\d+: \w*Warning: ")
_BY_CHANCE = re.compile(
    r"\b0x[0-9a-f]{6,}\b"
    r"|\b\d{4}[-/]\d\d[-/]\d\d\b"
    r"|\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?"
    r"|\b\d+:\d\d<(?:\d+:\d\d|\?)"
    r"|(?:\b\d[\d.,]*(?:e[-+]?\d+)?|\?)(?:\s?(?:seconds|secs?|minutes|hours|[A-Za-z]+/(?:s|sec|second)|s/[A-Za-z]+)|(?:s|ms|us|µs|ns))\b"
    r"|(?<=\.py:)\d+|(?<=\bline )\d+"
)


def read_lines(text: str) -> list[str]:
    """The lines of a text without ours, and without what a progress bar wrote over."""
    text = _REDRAWN.sub("", _OURS.sub("", text).replace("\r\n", "\n"))
    return _WARNING.sub(lambda found: found[1].replace("\n", " "), text).splitlines()


def make_alike(line: str) -> str:
    """The line without what no two runs share."""
    return _BY_CHANCE.sub(ALIKE, line)


def without_lost_warnings(lines: Sequence[str], others: Sequence[str]) -> list[str]:
    """The lines without Python's warnings that another run does not give: a leak that is mended is warned of no more,
    as of `backward(create_graph=True)`."""
    there = {make_alike(line) for line in others}
    return [line for line in lines if not _IS_WARNING.match(line) or make_alike(line) in there]
