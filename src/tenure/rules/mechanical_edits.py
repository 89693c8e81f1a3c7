"""Edits: the change of source that a rule's remedy means, where it is mechanical and the statement is found."""

from __future__ import annotations

import ast
import dataclasses
import math
from collections.abc import Mapping, Sequence

from tenure.model.finding import Edit, Finding
from tenure.model.rule import Rule
from tenure.model.source import SourceFile
from tenure.model.suspect import BESIDE_STATE, CARRIED_ON, GRAPHS_IN_TURN, WAITS, Hop, Suspect
from tenure.rules.path_questions import goes_through_cache, short_type
from tenure.syntax.edits.bounded_caches import bound_cache, reads_caches
from tenure.syntax.edits.class_fields import given_in, given_on
from tenure.syntax.edits.dropped_names import drop_names
from tenure.syntax.edits.kept_values import (
    Kept,
    call_method,
    call_method_of_all,
    each_of,
    ends_with_call,
    exceptions_in,
    find_kept,
    part_of,
    rebind_after,
    selects,
    statements_around,
)
from tenure.syntax.edits.last_use import drop_each
from tenure.syntax.edits.left_gradients import drop_behind_step, drop_gradients_of
from tenure.syntax.edits.mapped_loads import load_to_host, map_load
from tenure.syntax.edits.read_results import reset_behind_result
from tenure.syntax.edits.saved_on_ctx import save_for_backward
from tenure.syntax.text.number_flows import may_be_number
from tenure.syntax.text.raised_again import needs_traceback
from tenure.syntax.values.trained_through import goes_backward, keeps_graphs

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
    if BESIDE_STATE in suspect.facts:
        loads = map_load if suspect.device in ("", "cpu") else load_to_host
        return loads(source, site.line) if suspect.facts[BESIDE_STATE] == "loading" else ()
    if kind == "reset":
        empties = suspect.facts.get("emptied_by")
        return reset_behind_result(_yours(sources), str(empties)) if empties else ()
    if kind == "drop":
        return _drop(suspect, source)
    if kind == "save-for-backward":
        return _save_for_backward(suspect, source, site.line)
    if kind == "free-gradients":
        of_module = not str(suspect.facts.get("gradients_of")).endswith("Parameter")
        return drop_gradients_of(_yours(sources), suspect.holder.name) if of_module else ()
    if kind == "zero-grad":
        return drop_behind_step(_yours(sources), site.file, site.line)
    if kind == "bound":
        return () if reads_caches(_yours(sources)) else _bound(suspect, source, site.line)
    kept = find_kept(source, site.line, suspect.holder.name) or _given_to_field(suspect, source, site.line, sources)
    if kept is None:
        return ()
    if suspect.holder.element:
        kept = dataclasses.replace(kept, value=each_of(kept.value))
    if kind == "without-traceback":
        return _without_traceback(suspect, source, kept, sources)
    if _may_hold_numbers(suspect, source, kept, sources):
        return ()
    if kind == "clone":
        return _clone(suspect, source, kept)
    return () if _is_trained_through(suspect, sources) else _detach(suspect, source, kept, sources)


def _given_to_field(suspect: Suspect, source: SourceFile, line: int, sources: Mapping[str, SourceFile]) -> Kept | None:
    """What the call on a line gives for the field that keeps the memory, of an object that is made or copied there."""
    holder = suspect.holder
    if holder.kind != "attribute" or not holder.owner_type:
        return None
    value = given_on(_yours(sources), source, line, short_type(holder.owner_type), holder.name)
    around = statements_around(source, line)
    return Kept(around[0], value) if value is not None and around else None


def _may_hold_numbers(suspect: Suspect, source: SourceFile, kept: Kept, sources: Mapping[str, SourceFile]) -> bool:
    """Whether the variable that is kept is a number at other calls: then it has none of the methods of a tensor."""
    labels = _labels_below_holder(suspect, kept)
    if labels is None or kept.value is None:
        return False
    value = _part_of(kept, [hop.label for hop in labels], sources)
    return value is not None and may_be_number(_yours(sources), source, value)


def _without_traceback(
    suspect: Suspect, source: SourceFile, kept: Kept, sources: Mapping[str, SourceFile]
) -> tuple[Edit, ...]:
    names = exceptions_in(source, kept)
    through_traceback = any(hop.label == "__traceback__" for hop in suspect.path)
    if len(names) != 1 or not through_traceback:
        return ()
    if needs_traceback(_yours(sources), suspect.holder.name.partition("[")[0]):
        return ()
    return call_method(source, names[0], ".with_traceback(None)")


def _yours(sources: Mapping[str, SourceFile]) -> list[SourceFile]:
    return [source for source in sources.values() if source.origin == "yours"]


def _is_trained_through(suspect: Suspect, sources: Mapping[str, SourceFile]) -> bool:
    """Whether a backward pass may go through what is kept: to detach it would change what is learned."""
    yours = _yours(sources)
    name = suspect.holder.name.partition("[")[0]
    name = f".{name}" if f".{name}" in suspect.holder.expression else name
    return goes_backward(yours, name, suspect.holder.sites[0].file) or (
        not suspect.holder.element and keeps_graphs(yours)
    )


def _part_of(kept: Kept, labels: Sequence[str], sources: Mapping[str, SourceFile]) -> ast.expr | None:
    """The part of what is kept that the labels lead to, be it an argument of a call that makes an object."""
    if kept.value is None:
        return None
    found = part_of(kept.value, labels)
    if found is None and len(labels) == 1 and isinstance(kept.value, ast.Call):
        return given_in(_yours(sources), kept.value, labels[0])
    return found


def _detach(suspect: Suspect, source: SourceFile, kept: Kept, sources: Mapping[str, SourceFile]) -> tuple[Edit, ...]:
    labels = _labels_below_holder(suspect, kept)
    if labels is None:
        return ()
    value = _part_of(kept, [hop.label for hop in labels], sources)
    if value is None:
        return _rebind(suspect, source, kept, labels)
    if ends_with_call(value, *_DETACHED):
        return ()
    values = [value, *_parts_beside(suspect, kept, labels, sources)]
    stores = suspect.holder.element
    copies = stores and (any(map(selects, values)) or bool(suspect.facts.get("kept_pins_bytes")))
    return call_method_of_all(source, values, ".detach().clone()" if copies else ".detach()")


def _parts_beside(suspect: Suspect, kept: Kept, labels: list[Hop], sources: Mapping[str, SourceFile]) -> list[ast.expr]:
    """What else of the kept tuple, dict or object carries a graph; of what is not written there, something that takes
    no edit: to detach one alone would leave the others' graphs."""
    beside = suspect.facts.get("graphs_beside") if labels else None
    above = [hop.label for hop in labels[:-1]]
    parts = [_part_of(kept, [*above, label], sources) for label in beside] if isinstance(beside, list) else []
    return [ast.Constant(None) if part is None else part for part in parts]


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


def _save_for_backward(suspect: Suspect, source: SourceFile, line: int) -> tuple[Edit, ...]:
    """`ctx.save_for_backward(y)` for `ctx.y = y`, or for the tensor of a tuple that is set there."""
    attribute = str(suspect.facts.get("ctx_attribute"))
    around = [*suspect.path, *suspect.path] if suspect.cyclic else list(suspect.path)
    at = next((at for at, hop in enumerate(around) if hop.label.strip("'\"") == attribute), None)
    if at is None or not (hops := around[at : at + 2]):
        return ()
    if hops[0].target_kind == "TENSOR":
        return save_for_backward(source, attribute, line, None)
    is_part = len(hops) == 2 and hops[1].kind == "INDEX" and hops[1].target_kind == "TENSOR"
    return save_for_backward(source, attribute, line, int(hops[1].label)) if is_part else ()


def _bound(suspect: Suspect, source: SourceFile, line: int) -> tuple[Edit, ...]:
    """A bound of what two steps ask for: calls of one step and of the next still find each other's results.

    Tensors as keys are told apart by identity, so that an old result is hardly asked for again; by another key it may
    be, and what a method would compute then may differ.
    """
    per_step, keys = suspect.growth_objects_per_step, suspect.facts.get("keys")
    if not per_step or suspect.symptom != "growth" or not goes_through_cache(suspect):
        return ()
    by_identity = isinstance(keys, list) and bool(keys) and all("<Tensor>" in str(key) for key in keys)
    return bound_cache(source, line, 2 * math.ceil(per_step), methods=by_identity)


def _clone(suspect: Suspect, source: SourceFile, kept: Kept) -> tuple[Edit, ...]:
    labels = _labels_below_holder(suspect, kept)
    if labels is None or kept.value is None:
        return ()
    value = part_of(kept.value, [hop.label for hop in labels])
    if value is None or ends_with_call(value, "clone", "copy", "item"):
        return ()
    return call_method(source, value, ".copy()" if ends_with_call(value, "numpy") else ".clone()")


def _labels_below_holder(suspect: Suspect, kept: Kept) -> list[Hop] | None:
    """The references from what the statement keeps to the tensor, as `[1]` of a kept tuple; None where unclear. What
    carries a state on may be another name of the tensor itself than the path comes by."""
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
        name = holder.name.partition("[")[2].removesuffix("]") if holder.kind == "item" else holder.name
        kept_by = [at for at, hop in enumerate(upto) if hop.label.strip("'\"") == name.strip("'\"")][-1:]
    if not kept_by:
        names_the_tensor = any(each.expression == holder.expression for each in suspect.chain_entries)
        return [] if suspect.facts.get(CARRIED_ON) and names_the_tensor else None
    below = [hop for hop in upto[kept_by[0] + 1 :] if hop.kind not in _MERGED]
    return below[_levels_left(upto[: kept_by[0]], suspect, kept) :]


def _levels_left(above: Sequence[Hop], suspect: Suspect, kept: Kept) -> int:
    """How many containers of the same kind lie between the holder's and the one that the statement adds to, as
    `rows[-1]` of `rows[-1].append(x)`; `above` are the references to the holder's."""
    named = [at for at, hop in enumerate(above) if hop.label.strip("'\"") == suspect.holder.name.partition("[")[0]]
    passed = [hop for hop in above[named[-1] + 1 :] if hop.kind not in _MERGED] if named else ()
    return max(0, kept.depth - len(passed)) if suspect.holder.element and named else 0


def _drop(suspect: Suspect, source: SourceFile) -> tuple[Edit, ...]:
    """`del` of all variables of the cut, where they live in one function."""
    cut = suspect.cut
    scopes = {(each.scope_file, each.scope_function) for each in cut}
    plain = all(each.kind in _VARIABLES and each.expression == each.name and each.sites for each in cut)
    if not plain or len(scopes) != 1 or any(each.sites[0].file != source.path for each in cut):
        return ()
    lines = {each.name: each.sites[0].line for each in cut}
    running = _running_line(suspect, source)
    if not {WAITS, GRAPHS_IN_TURN}.isdisjoint(suspect.facts):
        return ()
    idle = bool(suspect.facts.get("idle_at_peak"))
    if suspect.symptom != "peak" or idle:
        at_once = drop_each(source, lines, running) if running else ()
        if at_once or not idle or not 0 < running <= min(lines.values()):
            return at_once
    return drop_names(source, tuple(lines), lines.values(), running)


def _running_line(suspect: Suspect, source: SourceFile) -> int:
    """The line that the function of the variables was at when the census saw them; 0 where that is not known."""
    first = next(iter(suspect.path), None)
    if first is not None and first.source_kind == "FRAME" and first.file == source.path:
        return first.line
    peak = suspect.facts.get("peak_at")
    line = peak.get("line") if isinstance(peak, dict) and peak.get("file") == source.path else 0
    return line if isinstance(line, int) else 0
