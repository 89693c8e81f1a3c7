"""The way from a finding's holder to the memory, as its evidence tells it: attributes, keys and places of parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tenure.model.finding import Finding, evidence_of
from tenure.model.source import SourceFile
from tenure.syntax.edits.class_fields import fields_of_class, is_named_tuple, named_tuples
from tenure.syntax.edits.kept_values import find_kept

_CLOSURE = re.compile(r"^closure variable `(\w+)` of (?:.*\.)?(\S+) \((.*):(\d+)\)$")


def plain_name(finding: Finding) -> str:
    """`rows` of `self.rows['loss']`."""
    return finding.holder.name.partition("[")[0].rpartition(".")[2]


def references_of(finding: Finding) -> Sequence[str]:
    """The way from a root to the memory, as it is told: `.rows`, `[3]`, "closure variable `x` of f (t.py:3)"."""
    references: Sequence[str] = evidence_of(finding, "path").get("references", ())
    return references


def attributes_in(references: Sequence[str]) -> list[str]:
    """`rows` of `.rows`, in the order of the way."""
    return [each[1:] for each in references if each[:1] == "." and each[1:].isidentifier()]


def below_holder(finding: Finding, end: str = "", *, above: int = 0) -> list[tuple[str, str]]:
    """References from what the holder's statement keeps to the first tensor, each with the type that it leads from.

    Up to the reference `end` where that is given; `above` counts references more on the holder's side.
    """
    path = evidence_of(finding, "path")
    references, targets = list(path.get("references", ())), list(path.get("targets", ()))
    name = plain_name(finding)
    at = next((at for at, each in enumerate(references) if each == f".{name}" or f"`{name}`" in each), None)
    if at is None:
        return []
    first = at + finding.holder.name.count("[") + finding.holder.expression.endswith("[*]") + 1 - above
    # What `references[n]` leads to is `targets[n - 1]`; of the first, the root's own, it is not told.
    below = list(zip(references[first:], targets[first - 2 :], strict=False)) if first > 1 else []
    last = [at for at, (each, kind) in enumerate(below) if kind.startswith("Tensor") or each == f".{end}"]
    return below[: last[0]] if last else below


@dataclass(frozen=True)
class Closure:
    """A function defined in another by whose `variable` a way goes, with a line of it."""

    source: SourceFile
    line: int
    function: str
    """`<lambda>` where it has no name."""
    variable: str


def closures_on_way(finding: Finding, sources: Sequence[SourceFile]) -> list[Closure]:
    """Of "closure variable `model` of Report.note.<locals>.<lambda> (runner.py:38)"."""
    found = [match.groups() for each in references_of(finding) if (match := _CLOSURE.search(each))]
    return [
        Closure(source, int(line), function, variable)
        for variable, function, name, line in found
        for source in sources
        if source.path.rpartition("/")[2] == name
    ]


def objects_above(finding: Finding) -> list[str]:
    """The attributes by which the way comes to the holder's, the root's first."""
    references, name = references_of(finding), f".{plain_name(finding)}"
    return attributes_in(references[: references.index(name)]) if name in references else []


def objects_on_way(finding: Finding) -> list[str]:
    """The names of the attributes that the way from the holder to the memory goes through, but for containers."""
    pairs = pairwise([*references_of(finding), ""])
    return attributes_in([each for each, following in pairs if not following.startswith("[")])


def keys_on_way(finding: Finding) -> list[str]:
    """The names among the keys of dictionaries that the way goes through: `cost` of `['cost']`."""
    return [each[2:-2] for each in references_of(finding) if each[:2] == "['" and each[2:-2].isidentifier()]


def fields_on_way(finding: Finding, sources: Sequence[SourceFile]) -> list[str]:
    """The fields of named tuples of the program by whose places the way goes, `entropy` of `[0]`; of what the root's
    own variable is, whose type is not told, those of all."""
    path = evidence_of(finding, "path")
    kinds = ["", *(kind.partition(" ")[0] for kind in path.get("targets", ()))]
    found = []
    for kind, label in zip(kinds, path.get("references", ())[1:], strict=False):
        place = label.strip("[]")
        if place.isdecimal():
            types = [kind] if kind else named_tuples(sources)
            fields = [fields_of_class(sources, each) for each in types if is_named_tuple(sources, each)]
            found += [each[int(place)] for each in fields if int(place) < len(each)]
    return list(dict.fromkeys(found))


def type_of_container(finding: Finding) -> str:
    """`GridTable` where the holder is an element of one; "" where it is none."""
    way = below_holder(finding, above=1) if finding.holder.expression.endswith("[*]") else []
    return way[0][1].partition(" of ")[0] if way else ""


def labels_on_way(finding: Finding, end: str = "") -> list[str]:
    """As in `part_of`: `row` of `.row`, `'loss'` of `['loss']`, `0` of `[0]`."""
    return [each.removeprefix(".").removeprefix("[").removesuffix("]") for each, _ in below_holder(finding, end)]


def levels_left(finding: Finding, source: SourceFile, line: int, name: str) -> int:
    """How many containers lie between the holder's and the one that the statement adds to: `rows[-1].append(x)`."""
    kept = find_kept(source, line, name)
    is_element = finding.holder.expression.endswith("[*]")
    return max(0, kept.depth - finding.holder.name.count("[")) if kept is not None and is_element else 0


def kinds_on_way(finding: Finding) -> list[str]:
    """The types of the objects on that way: `dict` of `dict of 3`."""
    return [kind.partition(" of ")[0] for _, kind in below_holder(finding)]
