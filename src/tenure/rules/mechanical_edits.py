"""Edits: the change of source that a rule's remedy means, where it is mechanical and the statement is found."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from tenure.model.finding import Edit, Finding
from tenure.model.rule import Rule
from tenure.model.source import SourceFile
from tenure.model.suspect import Hop, Suspect
from tenure.rules.path_questions import short_type
from tenure.syntax.dropped_names import drop_names
from tenure.syntax.kept_values import (
    Kept,
    call_method,
    ends_with_call,
    exceptions_in,
    find_kept,
    part_of,
    rebind_after,
    selects,
)

_MERGED = ("DICT", "CONTENTS", "CELL")
_DETACHED = ("detach", "item", "tolist", "numpy")
_VARIABLES = ("local", "global")
_SEQUENCES = ("tuple", "list")


def with_edits(finding: Finding, suspect: Suspect, rule: Rule, sources: Mapping[str, SourceFile]) -> Finding:
    """The finding, its first remedy with the edits that carry it out; as it came where none are sure to be right.

    Only the user's own files are edited, only where one statement is to blame, and only so that they still parse.
    """
    if not rule.edit or not finding.remedies or suspect.ambiguous or not suspect.holder.sites:
        return finding
    edits = _suggest_edits(suspect, rule.edit, sources)
    if not edits or any(sources[edit.file].origin != "yours" for edit in edits):
        return finding
    first = dataclasses.replace(finding.remedies[0], edits=edits)
    return dataclasses.replace(finding, remedies=(first, *finding.remedies[1:]))


def _suggest_edits(suspect: Suspect, kind: str, sources: Mapping[str, SourceFile]) -> tuple[Edit, ...]:
    site = suspect.holder.sites[0]
    source = sources.get(site.file)
    if source is None:
        return ()
    if kind == "drop":
        return _drop(suspect, source)
    kept = find_kept(source, site.line, suspect.holder.name)
    if kept is None:
        return ()
    if kind == "without-traceback":
        names = exceptions_in(source, kept)
        return call_method(source, names[0], ".with_traceback(None)") if len(names) == 1 else ()
    return _detach(suspect, source, kept) if kind == "detach" else _clone(suspect, source, kept)


def _detach(suspect: Suspect, source: SourceFile, kept: Kept) -> tuple[Edit, ...]:
    labels = _labels_below_holder(suspect)
    if labels is None:
        return ()
    value = part_of(kept.value, [hop.label for hop in labels]) if kept.value is not None else None
    if value is None:
        return _rebind(suspect, source, kept, labels)
    if ends_with_call(value, *_DETACHED):
        return ()
    stores = suspect.holder.element
    copies = stores and (selects(value) or bool(suspect.facts.get("kept_pins_bytes")))
    return call_method(source, value, ".detach().clone()" if copies else ".detach()")


def _rebind(suspect: Suspect, source: SourceFile, kept: Kept, labels: list[Hop]) -> tuple[Edit, ...]:
    """A line behind the statement, where its value is taken apart or is a tuple of states that a call returns."""
    if suspect.holder.element:
        return ()
    if not labels:
        return rebind_after(source, kept, "{}.detach()")
    if len(labels) == 1 and short_type(labels[0].source_type) in _SEQUENCES:
        made = short_type(labels[0].source_type)
        return rebind_after(source, kept, f"{made}(part.detach() for part in {{}})")
    return ()


def _clone(suspect: Suspect, source: SourceFile, kept: Kept) -> tuple[Edit, ...]:
    labels = _labels_below_holder(suspect)
    if labels is None or kept.value is None:
        return ()
    value = part_of(kept.value, [hop.label for hop in labels])
    if value is None or ends_with_call(value, "clone", "copy", "item"):
        return ()
    return call_method(source, value, ".copy()" if ends_with_call(value, "numpy") else ".clone()")


def _labels_below_holder(suspect: Suspect) -> list[Hop] | None:
    """The references from what the statement keeps to the tensor, as `[1]` of a kept tuple; None where unclear."""
    to_tensor = next((at for at, hop in enumerate(suspect.path) if hop.target_kind == "TENSOR"), None)
    if to_tensor is None:
        return None
    upto = suspect.path[: to_tensor + 1]
    holder = suspect.holder
    if holder.element:
        kept_by = [
            at for at, hop in enumerate(upto) if short_type(hop.source_type) == short_type(holder.container_type)
        ]
        kept_by = [at for at in kept_by if upto[at].kind in ("INDEX", "ITEM", "MEMBER")][:1]
    else:
        kept_by = [at for at, hop in enumerate(upto) if hop.label.strip("'\"") == holder.name][-1:]
    if not kept_by:
        return None
    return [hop for hop in upto[kept_by[0] + 1 :] if hop.kind not in _MERGED]


def _drop(suspect: Suspect, source: SourceFile) -> tuple[Edit, ...]:
    """`del` of all variables of the cut, where they live in one function."""
    cut = suspect.cut
    scopes = {(each.scope_file, each.scope_function) for each in cut}
    plain = all(each.kind in _VARIABLES and each.expression == each.name and each.sites for each in cut)
    if not plain or len(scopes) != 1 or any(each.sites[0].file != source.path for each in cut):
        return ()
    names = tuple(dict.fromkeys(each.name for each in cut))
    return drop_names(source, names, [each.sites[0].line for each in cut])
