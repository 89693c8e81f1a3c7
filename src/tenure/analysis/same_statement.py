"""One statement, one telling: suspects that the same line of source makes are joined before rules look at them.

A cache keeps results and keys, a dict of lists is filled by one `append`, a chain of sums keeps a graph and tensors:
each is several groups of memory for the census and one thing to change for a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace

from tenure.analysis.heap.storage_facts import bytes_of
from tenure.model.experiment import all_drops
from tenure.model.source import SourceLocation
from tenure.model.suspect import HoldingReference, Series, Suspect

_SYMPTOMS = ("growth", "sawtooth", "peak")
_CLOSES_RINGS = ("gradient", "hook")
"""What a call of `backward`, or one that puts pack hooks in place, makes anew in each step."""
_SUBSCRIPT = re.compile(r"(\[[^\[\]]*\])")


def join_same_statement(suspects: Iterable[Suspect]) -> tuple[Suspect, ...]:
    """The suspects, those joined that one holding reference or one statement makes; each storage counts once.

    Suspects of one reference are joined whatever they hold; those of several references that one statement makes
    only where they hold the same kind of thing, for they may need different remedies (scalars among tensors do not);
    what is carried into the forward, hooks of whatever modules that one call registers, rings that one call closes, or
    that lie in the objects it makes, and what a library's table has that one call fills, have one remedy. A cut names
    what reads alike once. Needs located holders.
    """
    joined = _join(_join(suspects, _same_reference), _same_statement)
    return tuple(replace(suspect, cut=_told_once(suspect.cut)) for suspect in joined)


def _same_reference(suspect: Suspect) -> Hashable | None:
    if suspect.symptom not in (*_SYMPTOMS, "survivor") or suspect.holder.kind == "unknown":
        return None
    return (suspect.symptom, suspect.holder, suspect.cut, suspect.series.moment, suspect.series.steps)


def _same_statement(suspect: Suspect) -> Hashable | None:
    closes_rings = suspect.holder.kind in _CLOSES_RINGS or bool(suspect.holder.library_sites)
    if suspect.symptom == "cycle" and closes_rings and suspect.holder.sites:
        return (suspect.symptom, suspect.holder.sites[0], suspect.series.moment, suspect.series.steps)
    if suspect.symptom == "survivor" and suspect.holder.sites and suspect.holder.library_sites:
        return (suspect.symptom, suspect.holder.name, suspect.holder.sites[0], suspect.series.moment)
    if suspect.symptom not in _SYMPTOMS or not suspect.holder.sites:
        return None
    if suspect.holder.kind == "hook" and suspect.grows:
        return (suspect.symptom, "hook", suspect.holder.sites[0], suspect.series.moment, suspect.series.steps)
    if suspect.symptom == "peak":
        place = (suspect.holder.sites[0], suspect.ambiguous, suspect.device)
        return (suspect.symptom, place, suspect.series.moment, suspect.series.steps)
    held = (suspect.through_graph, suspect.copies_of, suspect.period_steps, suspect.device)
    made = (suspect.holder.sites[0], suspect.ambiguous, suspect.holder.owner_type)
    # Of graphs that go on out of sight fewer censuses tell anything than of others that the statement makes.
    steps = () if suspect.through_graph else suspect.series.steps
    return (suspect.symptom, made, held, suspect.series.moment, steps)


def _join(suspects: Iterable[Suspect], key_of: Callable[[Suspect], Hashable | None]) -> tuple[Suspect, ...]:
    groups: dict[Hashable, list[Suspect]] = {}
    for position, suspect in enumerate(suspects):
        key = key_of(suspect)
        groups.setdefault(position if key is None else key, []).append(suspect)
    return tuple(_joined(group) if len(group) > 1 else group[0] for group in groups.values())


def _joined(group: Sequence[Suspect]) -> Suspect:
    """One suspect of several; its path and fingerprint are those of the heaviest, a graph's first of all, and of a
    collection before those of a tensor that grows as a whole: that is made anew of what the collection has.

    Where dropping one reference frees them all each retains the same: what is its own then tells them apart.
    """

    def rank(each: Suspect) -> tuple[bool, bool, int, int, int, str]:
        own = sum(each.bytes_by_role.values())
        return not each.through_graph, _grows_whole(each), -each.retained_bytes, -own, each.key, each.fingerprint

    main = min(group, key=rank)
    one_cut = main.symptom != "cycle" and all(each.cut == main.cut for each in group)
    roles = {role for each in group for role in each.bytes_by_role}
    by_role = {role: sum(each.bytes_by_role.get(role, 0) for each in group) for role in sorted(roles)}
    every_cut = tuple(reference for each in (main, *group) for reference in each.cut)
    retained = [each.retained_bytes for each in group if not _is_covered(each.cut, every_cut)]
    storages = frozenset().union(*(each.storages for each in group))
    freed = bytes_of(storages) if all(each.storages for each in group) else sum(retained)
    if main.symptom == "cycle" and bytes_of(storages) == sum(bytes_of(each.storages) for each in group):
        freed = sum(retained)  # at the census that found most of them, which is not the one of the storages
    return replace(
        main,
        key=min(each.key for each in group),
        holder=replace(_common_holder(main, group), library_sites=_library_sites(group)),
        cut=tuple(dict.fromkeys(reference for reference in every_cut if not _is_covered((reference,), every_cut))),
        retained_bytes=max(*retained, sum(by_role.values())) if one_cut else min(sum(retained), freed),
        num_objects=main.num_objects if one_cut else sum(each.num_objects for each in group),
        num_graph_nodes=sum(each.num_graph_nodes for each in group),
        bytes_by_role=dict(sorted(by_role.items(), key=lambda item: -item[1])),
        first_step=min(each.first_step for each in group),
        last_step=max(each.last_step for each in group),
        series=_summed([each.series for each in group], objects=main.series.objects if one_cut else None),
        growth_bytes_per_step=_sum([each.growth_bytes_per_step for each in group]),
        growth_objects_per_step=main.growth_objects_per_step
        if one_cut
        else _sum([each.growth_objects_per_step for each in group]),
        scalars=all(each.scalars for each in group),
        pinned_bytes=sum(each.pinned_bytes for each in group),
        through_graph=any(each.through_graph for each in group),
        ambiguous=any(each.ambiguous for each in group),
        storages=storages,
        drops=all_drops(group),
    )


def _grows_whole(suspect: Suspect) -> bool:
    return suspect.symptom == "growth" and suspect.holder.kind == "attribute" and not suspect.holder.element


def _told_once(cut: Sequence[HoldingReference]) -> tuple[HoldingReference, ...]:
    """The references without those that read as another does: same name, made by the same statement."""
    told: dict[Hashable, HoldingReference] = {}
    for reference in cut:
        sites = reference.sites[:1]
        told.setdefault((reference.kind, reference.expression, sites) if sites else reference, reference)
    return tuple(told.values())


def _is_covered(cut: Sequence[HoldingReference], every_cut: Sequence[HoldingReference]) -> bool:
    """Whether each reference lies in what another one names: `panel['loss']` where `panel` is dropped."""
    return all(any(_covers(other, reference) for other in every_cut) for reference in cut)


def _covers(outer: HoldingReference, inner: HoldingReference) -> bool:
    same_scope = (outer.scope_file, outer.scope_function) == (inner.scope_file, inner.scope_function)
    rest = inner.expression.removeprefix(outer.expression)
    return same_scope and not outer.element and rest != inner.expression and rest[:1] in ("[", ".")


def _common_holder(main: Suspect, group: Sequence[Suspect]) -> HoldingReference:
    """The holder; of several items of one container the container's: `stats[*][*]` of `stats['loss'][*]` and others."""
    holders = [each.holder for each in group]
    for holder in holders:
        if all(other == holder or _covers(holder, other) for other in holders):
            return holder
    expression = _common_text([holder.expression for holder in holders])
    name = _common_text([holder.name for holder in holders])
    if not expression or not name:
        return main.holder
    if all(holder.name == main.holder.name for holder in holders):
        return replace(main.holder, expression=expression) if main.symptom == "survivor" else main.holder
    return replace(main.holder, name=name.removesuffix("[*]"), expression=expression)


def _library_sites(group: Sequence[Suspect]) -> tuple[SourceLocation, ...]:
    found = {site for each in group for site in each.holder.library_sites}
    return tuple(sorted(found, key=lambda site: (site.file, site.line)))


def _common_text(texts: Sequence[str]) -> str:
    """The text, with `[*]` for subscripts that differ; "" where more than subscripts differs."""
    columns = [_SUBSCRIPT.split(text) for text in texts]
    if len({len(parts) for parts in columns}) > 1:
        return ""
    same = [len(set(parts)) == 1 for parts in zip(*columns, strict=True)]
    if not all(same[::2]):
        return ""
    return "".join(part if fits else "[*]" for part, fits in zip(columns[0], same, strict=True))


def _summed(all_series: Sequence[Series], *, objects: tuple[int, ...] | None) -> Series:
    """What they come to together, at the steps that all of them have; `objects` are those of the first."""
    common = frozenset.intersection(*(frozenset(series.steps) for series in all_series))
    first = all_series[0]

    def at_common(series: Series, column: Sequence[int]) -> list[int]:
        return [value for step, value in zip(series.steps, column, strict=True) if step in common]

    def total(columns: Iterable[Sequence[int]]) -> tuple[int, ...]:
        return tuple(map(sum, zip(*columns, strict=True)))

    return replace(
        first,
        steps=tuple(at_common(first, first.steps)),
        bytes=total(at_common(series, series.bytes) for series in all_series),
        objects=tuple(at_common(first, objects))
        if objects
        else total(at_common(series, series.objects) for series in all_series),
        graph_nodes=total(at_common(series, series.graph_nodes) for series in all_series),
    )


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
