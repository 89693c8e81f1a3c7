"""From a suspect to a finding: what every rule does alike once it has recognised its cause."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenure.model.finding import (
    AUTOGRAD_NODE_BYTES,
    Confidence,
    CutReference,
    Finding,
    Holder,
    Remedy,
    gained_per_step,
    rise_between_falls,
)
from tenure.model.source import SourceLocation
from tenure.model.suspect import (
    ALSO_KEPT_BY,
    GROWS_WITH_MODEL,
    KEPT_SHORT,
    KEPT_UP,
    MADE_LARGER,
    READ_AFTERWARDS,
    READ_IN_TURNS,
    REBUILT,
    USED_BY_STEPS,
    Falls,
    HoldingReference,
    Suspect,
)
from tenure.model.units import format_bytes

_MAY_BE_MEANT = (
    "never_remade", KEPT_SHORT, KEPT_UP, USED_BY_STEPS, MADE_LARGER, GROWS_WITH_MODEL, READ_AFTERWARDS,
    READ_IN_TURNS,
)  # fmt: skip
MIN_MEASUREMENTS = 3
"""Censuses in which a symptom must have been seen before it counts as measured."""


def claim(
    suspect: Suspect,
    *,
    rule: str,
    name: str,
    message: str,
    remedies: Iterable[str] = (),
    at_most: Confidence = "certain",
) -> Finding:
    """The finding that `rule` makes of `suspect`; `message` is its sentence, `remedies` what to change."""
    holder = suspect.holder
    site = holder.sites[0] if holder.sites else None
    return Finding(
        rule=rule,
        name=name,
        symptom=suspect.symptom,
        confidence=min(_confidence(suspect), at_most, key=_ORDER.index),
        origin="yours" if suspect.holder_is_yours else "library",
        message="".join((message, *_notes(suspect))),
        holder=Holder(
            kind=holder.kind,
            name=_registration(holder.name) if holder.kind == "hook" else holder.name,
            expression=holder.expression,
            file=site.file if site else None,
            line=site.line if site else None,
            function=site.function if site else None,
        ),
        path=suspect.path_text,
        cut=tuple(_cut_reference(reference) for reference in suspect.cut),
        retained_bytes=suspect.retained_bytes,
        num_objects=suspect.num_objects,
        device=suspect.device,
        first_step=suspect.first_step,
        last_step=suspect.last_step,
        fingerprint=suspect.fingerprint,
        growth_bytes_per_step=suspect.growth_bytes_per_step,
        growth_bytes_per_step_interval=suspect.bytes_interval,
        growth_objects_per_step=suspect.growth_objects_per_step,
        growth_objects_per_step_interval=suspect.objects_interval,
        forecast=suspect.forecast,
        peak_bytes=suspect.peak_bytes,
        peak_drop_bytes=suspect.peak_drop_bytes,
        peak_basis=suspect.peak_basis,
        remedies=tuple(Remedy(summary) for summary in remedies),
        evidence=tuple(_evidence(suspect)),
        explains=(suspect.key,),
    )


def _notes(suspect: Suspect) -> Iterable[str]:
    """What is known beside the cause, in sentences."""
    if line := suspect.facts.get(KEPT_SHORT):
        yield f" Line {line} looks how many there are, and stops at enough."
    if line := suspect.facts.get(MADE_LARGER):
        yield f" Line {line} asks for room: it is as large as the largest need so far."
    if KEPT_UP in suspect.facts:
        yield " Steps bring earlier entries up to date: it may fill until every key has come."
    if USED_BY_STEPS in suspect.facts:
        yield " A profiled step used what was there then: it may be meant to stay."
    if place := suspect.facts.get(READ_AFTERWARDS):
        yield f" {place} goes through all of it in the end, once: it may be meant to stay."
    elif place := suspect.facts.get(READ_IN_TURNS):
        yield f" It gains an entry now and then, and {place} goes through all of it: it may be meant to stay."
    if GROWS_WITH_MODEL in suspect.facts:
        yield " It grows where the model does."
    if other := suspect.facts.get(ALSO_KEPT_BY):
        yield f" `{other}` keeps most of these nodes as well: only both together let them go."


_ORDER: tuple[Confidence, ...] = ("possible", "likely", "certain")


def _confidence(suspect: Suspect) -> Confidence:
    """Certain: a path was seen, the symptom was measured, and one statement is to blame. Likely: one is missing.

    What has risen twice may do so a third time, or be full: possible. So is what the program's text keeps short, what
    is made larger only where it is too small, what steps bring up to date, what comes with layers that a model gets,
    what an evaluation collects, unless with graphs, which it has no use for, and a graph that looks the same at all
    entries: it may be in use. What is built anew in each step may be the work of steps that do ever more: likely.
    """
    if within_evaluation(suspect):
        return "likely" if suspect.through_graph or nodes_per_step(suspect) >= 1 else "possible"
    if suspect.facts.get("rises_seen") == 2 or any(fact in suspect.facts for fact in _MAY_BE_MEANT):
        return "possible"
    seen = suspect.facts.get("censuses_while_growing", len(suspect.series.steps))
    measured = isinstance(seen, int) and seen >= MIN_MEASUREMENTS
    path_seen = bool(suspect.path) and suspect.holder.kind != "unknown"
    if measured and path_seen:
        one_statement = bool(suspect.holder.sites) and not suspect.ambiguous
        return "certain" if one_statement and REBUILT not in suspect.facts else "likely"
    return "likely" if measured or path_seen else "possible"


def _cut_reference(reference: HoldingReference) -> CutReference:
    site = reference.sites[0] if reference.sites else None
    return CutReference(reference.name, site.file if site else None, site.line if site else None)


def _evidence(suspect: Suspect) -> Iterable[dict[str, Any]]:
    yield _path_evidence(suspect)
    yield {
        "kind": "series",
        "moment": suspect.series.moment,
        "steps": list(suspect.series.steps),
        "bytes": list(suspect.series.bytes),
        "objects": list(suspect.series.objects),
        "graph_nodes": list(suspect.series.graph_nodes),
    }
    yield {"kind": "roles", "bytes_by_role": dict(suspect.bytes_by_role)}
    if len(suspect.holder.sites) > 1:
        yield {"kind": "sites", "candidates": _rows(suspect.holder.sites)}
    if suspect.holder.library_sites:
        yield {"kind": "library_sites", "statements": _rows(suspect.holder.library_sites)}
    if suspect.falls:
        yield _falls_evidence(suspect.falls)
    if suspect.facts:
        yield {"kind": "facts", **suspect.facts}


def _rows(sites: Iterable[SourceLocation]) -> list[dict[str, Any]]:
    return [{"file": site.file, "line": site.line, "function": site.function} for site in sites]


def _falls_evidence(falls: Falls) -> dict[str, Any]:
    where_from = falls.where
    return {
        "kind": "falls",
        "amplitude_bytes": falls.amplitude_bytes,
        "amplitude_objects": falls.amplitude_objects,
        "every_steps": falls.every_steps,
        "with": falls.with_what or None,
        "expression": falls.expression or None,
        "file": where_from.file if where_from else None,
        "line": where_from.line if where_from else None,
        "text": _say_falls(falls),
    }


def _say_falls(falls: Falls) -> str:
    """`88.00 KiB and 12 objects every 12 steps, the interval of `step % self.log_every` (train.py:8)`."""
    amounts = [format_bytes(falls.amplitude_bytes)] if falls.amplitude_bytes else []
    amounts += [count(falls.amplitude_objects, "object")] if falls.amplitude_objects else []
    coincides = {
        "collector": ", when the collector goes through all objects",
        "interval": f", the interval of `{falls.expression}` ({where(falls.where)})",
        "": "",
    }
    every = f"every {falls.every_steps} steps" if falls.every_steps > 1 else "every step"
    held = " and ".join(amounts) + " " if amounts else ""
    return f"{held}{every}{coincides[falls.with_what]}"


def _path_evidence(suspect: Suspect) -> dict[str, Any]:
    """The path, with what each reference after the root leads to; of a root alone what that leads to."""
    row: dict[str, Any] = {
        "kind": "path",
        "references": list(suspect.path_text),
        "targets": list(suspect.path_targets[1:]),
        "suspect_from": next((at for at, text in enumerate(suspect.path_text) if text == ".grad_fn"), None),
    }
    alone = len(suspect.path_text) == 1 and any(suspect.path_targets)
    return row | {"root_target": suspect.path_targets[0]} if alone else row


def _registration(table: str) -> str:
    """What people call to make an entry of a module's table of hooks: `register_forward_hook`."""
    known = {
        "_backward_hooks": "register_full_backward_hook",
        "_backward_pre_hooks": "register_full_backward_pre_hook",
        "_optimizer_step_pre_hooks": "register_step_pre_hook",
        "_optimizer_step_post_hooks": "register_step_post_hook",
        "_tensor_hooks": "register_hook",
        "_global_backward_hooks": "register_module_full_backward_hook",
        "_global_backward_pre_hooks": "register_module_full_backward_pre_hook",
        "_global_optimizer_pre_hooks": "register_optimizer_step_pre_hook",
        "_global_optimizer_post_hooks": "register_optimizer_step_post_hook",
    }
    kind = table.removeprefix("_").removesuffix("s").replace("global_", "module_")
    return known.get(table, f"register_{kind}" if table.startswith("_") and kind.endswith("hook") else table)


def subject(suspect: Suspect) -> str:
    """What holds, in the user's words: "`retval` and `loss`", "`trainer.history[*]`"; the holder, whose statement the
    finding names, before others."""
    names = list(dict.fromkeys(reference.name for reference in suspect.cut if reference.name)) or [
        suspect.holder.expression or suspect.holder.name
    ]
    names.sort(key=lambda name: name != suspect.holder.name)
    if len(names) == 1:
        return f"`{suspect.holder.expression or names[0]}`"
    shown = [f"`{name}`" for name in names[:3]]
    if len(names) > 3:
        return ", ".join(shown) + f" and {len(names) - 3} more"
    return ", ".join(shown[:-1]) + f" and {shown[-1]}"


def plural(suspect: Suspect, singular: str, several: str) -> str:
    """The verb form that goes with `subject`."""
    names = {reference.name for reference in suspect.cut if reference.name}
    return several if len(names) > 1 else singular


def where(location: SourceLocation | None) -> str:
    """`trainer.py:614`, or "" where no statement was found."""
    return f"{location.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{location.line}" if location else ""


def growth(suspect: Suspect) -> str:
    """How fast, in words: "8.00 MiB per step", "12 autograd nodes per step", "1 object per step"."""
    if within_evaluation(suspect):
        each = format_bytes(int(str(suspect.facts["bytes_per_call"])))
        if "no_step_after" in suspect.facts:
            return f"{each} per call of the model after the last step, {suspect.last_step:,}"
        return f"{each} per call of the model, until the evaluation after step {suspect.last_step:,} ends"
    nodes = nodes_per_step(suspect)
    if suspect.growth_bytes_per_step and suspect.growth_bytes_per_step >= 1 and not outweighs_tensors(suspect):
        return f"{format_bytes(suspect.growth_bytes_per_step)} per step"
    if nodes > 0:
        return f"{count(nodes, 'autograd node')} per step"
    if suspect.growth_objects_per_step:
        return f"{count(suspect.growth_objects_per_step, 'object')} per step"
    return "a little per step"


def within_evaluation(suspect: Suspect) -> bool:
    """Whether it grows from call to call within an evaluation, not from step to step."""
    return "bytes_per_call" in suspect.facts


def nodes_per_step(suspect: Suspect) -> float:
    """Autograd nodes gained per step over the whole series, of a sawtooth between its falls; 0 where it has no two
    steps."""
    nodes, steps = suspect.series.graph_nodes, suspect.series.steps
    if suspect.period_steps:
        return rise_between_falls(nodes, steps, suspect.period_steps) or 0.0
    return gained_per_step(nodes, steps)


def outweighs_tensors(suspect: Suspect) -> bool:
    """Whether the autograd nodes gained weigh more than the tensors gained."""
    return nodes_per_step(suspect) * AUTOGRAD_NODE_BYTES > (suspect.growth_bytes_per_step or 0)


def count(number: float, noun: str) -> str:
    """`1 object`, `2.5 objects`, `12 autograd nodes`."""
    text = f"{number:.0f}" if number >= 10 else f"{number:.2g}"
    return f"{text} {noun}" if text == "1" else f"{text} {noun}s"
