"""A diagnosis as text for a terminal: what holds on, where, since when, and what to change.

Draws what findings carry and analyses nothing. Lines fit the width as long as names allow: files are
shortened at the left, sentences are wrapped, and only a word longer than the line is left to overflow.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any, TextIO

from tenure.model.finding import AUTOGRAD_NODE_BYTES, Diagnosis, Finding, Interval, Remedy, evidence_of
from tenure.model.growth_rule import is_near
from tenure.model.suspect import GRAPH_GOES_ON
from tenure.model.units import format_about, format_bytes, format_duration, format_number
from tenure.report.layout import changed_lines, place_of, relative_to_here, wrap
from tenure.report.ran_out import render_ran_out
from tenure.report.retention_tree import draw_path
from tenure.report.style import Style, plain_ascii

FINDINGS_IN_FULL = 10
LABEL_WIDTH = 10
NARROWEST, WIDEST = 60, 200
UNEXPLAINED = "TN900"
CENSUSES_ADVISED = 8

_BYTES_ARE = {
    "peak": "carried into every forward",
    "growth": "held at step {step} and growing",
    "sawtooth": "held between falls",
    "survivor": "still held",
    "cycle": "held by a cycle",
    "fragmentation": "reserved, not in use",
    "host": "of host memory",
}
_BYTES_AT = {
    "peak": "idle at the peak",
    "evaluation": "held within an evaluation",
    "loading": "in memory while state is loaded",
    "saving": "in memory while state is saved",
}


def terminal_form(stream: TextIO) -> tuple[int, bool, bool]:
    """Width, colour and plain-ASCII for `render_diagnosis`, as the stream and the environment ask for."""
    is_terminal = stream.isatty()
    color = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    try:
        "└─·…".encode(stream.encoding or "ascii")
        ascii_only = False
    except (UnicodeEncodeError, LookupError):
        ascii_only = True
    return _terminal_width(stream, is_terminal), color, ascii_only


def _terminal_width(stream: TextIO, is_terminal: bool) -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return int(columns)
    if not is_terminal:
        return 110
    try:
        return os.get_terminal_size(stream.fileno()).columns or 110
    except OSError:
        return 110


def render_diagnosis(
    diagnosis: Diagnosis,
    *,
    width: int,
    color: bool,
    ascii_only: bool = False,
    program: str = "",
    by_trial: bool = False,
) -> str:
    """The whole report, ending with a newline; findings in the order given, the first ten in full.

    `program` is what `tenure run` was given to run, as a shell takes it: what is proposed can be pasted then. Where no
    finding has an edit, `by_trial` says that `tenure fix` has ways to try.
    """
    width = min(max(width, NARROWEST), WIDEST)
    style = Style(color)
    blocks = [] if diagnosis.ran_out is None else [render_ran_out(diagnosis.ran_out, width=width, style=style)]
    blocks += [_render_finding(finding, width=width, style=style) for finding in diagnosis.findings[:FINDINGS_IN_FULL]]
    if diagnosis.findings[FINDINGS_IN_FULL:]:
        blocks.append(_render_rest(diagnosis.findings[FINDINGS_IN_FULL:], width=width))
    if not diagnosis.findings:
        blocks.append(_render_nothing_found(diagnosis, width=width, style=style))
    blocks.extend(_render_limits(diagnosis, width=width))
    blocks.append(_render_closing(diagnosis, program, width=width, by_trial=by_trial))
    text = "\n\n".join(blocks) + "\n"
    return plain_ascii(text) if ascii_only else text


def _render_finding(finding: Finding, *, width: int, style: Style) -> str:
    lines = [_header(finding, width=width, style=style), *_message(finding, width=width)]
    if finding.path:
        lines += ["", *draw_path(finding, width=width, style=style)]
    facts = _facts(finding, width=width, style=style)
    if facts:
        lines += ["", *facts]
    return "\n".join(lines)


def _header(finding: Finding, *, width: int, style: Style) -> str:
    left = f"{finding.rule} {finding.name}"
    sure = "cause unknown" if finding.rule == UNEXPLAINED else finding.confidence
    right = f"{sure} · {weight(finding)}"
    gap = width - len(left) - len(right)
    confidence = style.confidence(right, finding.confidence)
    if gap >= 2:
        return style.bold(left) + " " * gap + confidence
    return f"{style.bold(left)}\n" + " " * max(2, width - len(right)) + confidence


def weight(finding: Finding) -> str:
    """What the finding weighs, in words: bytes where there are any, the number of objects otherwise."""
    nodes = _nodes_that_outweigh(finding)
    if nodes:
        least = "at least " if evidence_of(finding, "facts").get(GRAPH_GOES_ON) else ""
        return f"{least}{nodes:,} autograd nodes held at step {finding.last_step:,} and growing"
    if finding.retained_bytes:
        return f"{format_bytes(finding.retained_bytes)} {_what_bytes_are(finding)}"
    objects = f"{finding.num_objects:,} object{'' if finding.num_objects == 1 else 's'}"
    return f"{objects}, bytes not measured" if finding.retained_bytes is None else f"{objects}, no tensor memory"


def _what_bytes_are(finding: Finding) -> str:
    moment = str(evidence_of(finding, "series").get("moment", "")).partition("-")[0]
    return _BYTES_AT.get(moment) or _BYTES_ARE[finding.symptom].format(step=f"{finding.last_step:,}")


def _nodes_that_outweigh(finding: Finding) -> int:
    """Autograd nodes of the last census, where they grow and weigh more than the tensors with them; else 0."""
    counts = evidence_of(finding, "series").get("graph_nodes", ())
    grown = finding.symptom == "growth" and len(counts) > 1 and counts[-1] > counts[0]
    heavy = grown and counts[-1] * AUTOGRAD_NODE_BYTES > (finding.retained_bytes or 0)
    return int(counts[-1]) if heavy and finding.retained_bytes is not None else 0


def _message(finding: Finding, *, width: int) -> list[str]:
    place = place_of(finding.holder.file, finding.holder.line, room=width // 3)
    text = relative_to_here(finding.message)
    named = f"{Path(finding.holder.file or '').name}:{finding.holder.line}" in text
    if place and not named:
        text = f"{place}  {text}"
    return wrap(text, width=width, first="  ", rest="  ")


def _facts(finding: Finding, *, width: int, style: Style) -> list[str]:
    rows: list[tuple[str, str]] = []
    if finding.rule == UNEXPLAINED:
        rows.append((finding.confidence, "that it is held here, and how much; not that it is a mistake"))
    candidates = evidence_of(finding, "sites").get("candidates", ())
    if len(candidates) > 1:
        places = (place_of(site["file"], site["line"], room=width // 3) for site in candidates)
        rows.append(("bound by", f"one of {', '.join(places)}"))
    inside = evidence_of(finding, "library_sites").get("statements", ())
    if inside:
        places = (place_of(site["file"], site["line"], room=width // 3) for site in inside)
        rows.append(("made in", f"{', '.join(places)}, inside that call"))
    if finding.cut:
        rows.append(("to free", _to_free(finding, width=width)))
    rows += [("tested", _experiment(item)) for item in finding.evidence if item.get("kind") == "experiment"]
    if finding.peak_drop_bytes is not None and finding.peak_bytes is not None:
        without = format_bytes(finding.peak_bytes - finding.peak_drop_bytes)
        rows.append(("peak", f"{format_bytes(finding.peak_bytes)}; without it {without} ({finding.peak_basis})"))
    if finding.ranks:
        rows.append(("on rank" if len(finding.ranks) == 1 else "on ranks", ", ".join(map(str, finding.ranks))))
    grown = _growth(finding)
    if grown:
        rows.append(("grew", grown))
    falls = evidence_of(finding, "falls").get("text")
    if falls:
        rows.append(("falls", str(falls)))
    ends = say_forecast(finding)
    if ends:
        rows.append(("forecast", ends))
    made = finding.allocation and place_of(
        finding.allocation.get("file"), finding.allocation.get("line"), room=width // 2
    )
    if made:
        function = finding.allocation.get("function") if finding.allocation else None
        rows.append(("made at", f"{made} in {function}" if function else made))
    if finding.origin == "library":
        rows.append(("owner", "code of an installed library makes this reference, not your own"))
    rows += [("remedy", text) for remedy in finding.remedies for text in _remedy(remedy, width=width)]
    lines: list[str] = []
    previous = ""
    for label, text in rows:
        shown = "" if label == previous else label
        lines += _labelled(shown, text, width=width, style=style)
        previous = label
    return lines


def _labelled(label: str, text: str, *, width: int, style: Style) -> list[str]:
    indent = " " * (2 + LABEL_WIDTH)
    lines = wrap(text, width=width, first=indent, rest=indent)
    lines[0] = "  " + style.dim(label.ljust(LABEL_WIDTH)) + lines[0][len(indent) :]
    return [line.rstrip() for line in lines]


def _to_free(finding: Finding, *, width: int) -> str:
    """How many references to drop, those of one name and statement once: `` `input` (net.py:3) 6 times``."""
    names = []
    for cut, times in Counter(finding.cut).items():
        place = place_of(cut.file, cut.line, room=width // 3)
        name = f"`{cut.name}` ({place})" if place else f"`{cut.name}`"
        names.append(name if times == 1 else f"{name} {times} times")
    count = len(finding.cut)
    return f"drop {count} reference{'' if count == 1 else 's'}: {', '.join(names)}"


def _experiment(result: dict[str, Any]) -> str:
    done = {"drop": "dropping just these", "collect": "a collection"}[result["done"]]
    if result["freed_bytes"] is None:
        return f"{done} could not be tried: {result['failure']}"
    freed, predicted = format_bytes(result["freed_bytes"]), format_bytes(result["predicted_bytes"])
    collected = result.get("collected_bytes", 0)
    later = f", and {format_bytes(collected)} more once the collector ran" if collected else ""
    return f"{done} freed {freed} of {predicted}{later}, in a copy of the process"


def _growth(finding: Finding) -> str:
    texts = []
    rate = finding.growth_bytes_per_step
    if rate is not None and rate > 0:
        steps = finding.last_step - finding.first_step
        per_step = f"{format_bytes(rate)}{_range(finding.growth_bytes_per_step_interval, rate)} per step"
        texts.append(f"{per_step} for {steps:,} step{'' if steps == 1 else 's'}")
    facts = evidence_of(finding, "facts")
    if "bytes_per_call" in facts:
        per_call = f"{format_bytes(facts['bytes_per_call'])} per call of the model"
        texts.append(f"{per_call}, seen up to call {facts['calls']:,} after step {finding.last_step:,}")
    if finding.symptom in ("growth", "sawtooth"):
        texts += _counted_growth(finding)
    return "; ".join(texts)


def _range(interval: Interval | None, rate: float) -> str:
    """` (7.90 MiB to 8.10 MiB)`; nothing where both ends read as the rate does."""
    if interval is None or all(format_bytes(end) == format_bytes(rate) for end in interval):
        return ""
    return f" ({format_bytes(interval[0])} to {format_bytes(interval[1])})"


def say_forecast(finding: Finding) -> str:
    """`at this rate out of memory in about 1,900 steps (1,700-2,200), 26 min`; "" where that says nothing useful."""
    ahead = finding.forecast
    if ahead is None or finding.confidence == "possible" or not is_near(ahead.seconds):
        return ""
    low, high = (format_about(end) for end in ahead.steps_interval)
    between = "" if low == high else f" ({low}-{high})"
    where = {"device": "", "host": " of the machine", "cgroup": " of its cgroup"}[ahead.limit]
    return (
        f"at this rate out of memory{where} in about {format_about(ahead.steps)} steps{between}, "
        f"{format_duration(ahead.seconds)}"
    )


def _counted_growth(finding: Finding) -> list[str]:
    """Objects per step; objects and autograd nodes at the first and the last census, where they became more."""
    series = evidence_of(finding, "series")
    texts = []
    if finding.growth_objects_per_step:
        texts.append(_objects_per_step(finding.growth_objects_per_step, finding.growth_objects_per_step_interval))
    for key, name in (("objects", "objects"), ("graph_nodes", "autograd nodes")):
        counts = series.get(key, ())
        if len(counts) > 1 and counts[-1] > counts[0]:
            texts.append(f"{counts[0]:,} to {counts[-1]:,} {name}")
    return texts


def _objects_per_step(rate: float, interval: Interval | None) -> str:
    """`1 object per step`, `0.1 (0.08 to 0.12) objects per step`."""
    number = format_number(rate)
    ends = [format_number(end) for end in interval or ()]
    between = f" ({ends[0]} to {ends[1]})" if any(end != number for end in ends) else ""
    return f"{number}{between} object{'' if number == '1' and not between else 's'} per step"


def _remedy(remedy: Remedy, *, width: int) -> list[str]:
    tried = {None: "", True: "  (tried: it helped)", False: "  (tried: it did not help)"}[remedy.verified]
    lines = [remedy.summary + tried]
    for edit in remedy.edits:
        lines.append(place_of(edit.file, edit.line, room=width // 2))
        lines += changed_lines(edit)
    return lines


def _render_rest(findings: tuple[Finding, ...], *, width: int) -> str:
    lines = [f"{len(findings)} more:"]
    for finding in findings:
        place = place_of(finding.holder.file, finding.holder.line, room=width // 3)
        where = f" at {place}" if place else ""
        line = f"  {finding.rule} {finding.name}: {weight(finding)}, `{finding.holder.name}`{where}"
        lines += wrap(line.strip(), width=width, first="  ", rest="    ")
    return "\n".join(lines)


def _render_nothing_found(diagnosis: Diagnosis, *, width: int, style: Style) -> str:
    if not diagnosis.steps or diagnosis.censuses == 0:
        missing = "no step" if not diagnosis.steps else "no census"
        text = f"The recording holds {missing}, so nothing can be said about memory."
        return "\n".join([style.bold("no verdict"), *wrap(text, width=width, first="  ", rest="  ")])
    if diagnosis.known or diagnosis.suppressed:
        text = f"In {seen(diagnosis)} only what is known or allowed was found."
        return "\n".join([style.bold("nothing new"), *wrap(text, width=width, first="  ", rest="  ")])
    text = f"In {seen(diagnosis)} no rule found tensor memory that grows or is kept for nothing."
    if diagnosis.looked_until is not None:
        text = (
            f"The last of {_censuses(diagnosis.censuses)} was taken after step {diagnosis.looked_until:,} of "
            f"{diagnosis.steps:,}: no rule found tensor memory that grows or is kept for nothing until then."
        )
        title = f"nothing found up to step {diagnosis.looked_until:,}"
        return "\n".join([style.bold(title), *wrap(text, width=width, first="  ", rest="  ")])
    return "\n".join([style.bold("nothing found"), *wrap(text, width=width, first="  ", rest="  ")])


def seen(diagnosis: Diagnosis) -> str:
    """`30 steps and 12 censuses`; the censuses only where they were counted."""
    steps = f"{diagnosis.steps:,} step{'' if diagnosis.steps == 1 else 's'}"
    if diagnosis.censuses is None:
        return steps
    return f"{steps} and {_censuses(diagnosis.censuses)}"


def _censuses(count: int | None) -> str:
    return f"{count or 0:,} census{'' if count == 1 else 'es'}"


def _render_limits(diagnosis: Diagnosis, *, width: int) -> list[str]:
    lines: list[str] = []
    rate = diagnosis.unexplained_growth_bytes_per_step
    if rate > 0 and not any(finding.rule == UNEXPLAINED for finding in diagnosis.findings):
        text = f"{format_bytes(rate)} per step of growth is explained by no rule."
        lines += wrap(text, width=width, first="", rest="  ")
    for text in (
        *_left_out(diagnosis),
        *_not_looked_at(diagnosis),
        *(f"not seen: {text}" for text in diagnosis.not_seen),
    ):
        lines += wrap(text, width=width, first="", rest="  ")
    return ["\n".join(lines)] if lines else []


def _not_looked_at(diagnosis: Diagnosis) -> list[str]:
    """What began after the last census, where findings tell of what came before it."""
    if diagnosis.looked_until is None or not diagnosis.findings:
        return []
    return [
        f"not seen: what began after step {diagnosis.looked_until:,} of {diagnosis.steps:,}; no census was taken later "
        f"(`--census-at {_spread(diagnosis.steps)}` takes some up to the end)"
    ]


def _left_out(diagnosis: Diagnosis) -> list[str]:
    """One line each for what a baseline knows and what comments allow."""
    lines = []
    if diagnosis.known is not None:
        lines.append(f"known: {_findings(diagnosis.known)} of {relative_to_here(diagnosis.baseline)} left out")
    if diagnosis.suppressed:
        rules = ", ".join(sorted({finding.rule for finding in diagnosis.suppressed}))
        lines.append(f"allowed: {_findings(len(diagnosis.suppressed))} ({rules}) by a `# tenure: allow` comment")
    return lines


def _findings(count: int) -> str:
    return f"{count} finding{'' if count == 1 else 's'}"


def _render_closing(diagnosis: Diagnosis, program: str, *, width: int, by_trial: bool) -> str:
    count = len(diagnosis.findings)
    found = f"{_findings(count)} in {seen(diagnosis)}; " if count else ""
    to_try = "the edits" if has_edits(diagnosis) else "ways to mend it" if by_trial else ""
    command = _next_command(diagnosis, program, fixes=bool(to_try))
    if count:
        then = f"Next: `tenure explain {diagnosis.findings[0].rule}`, {_then_prove(to_try, command)}"
    elif diagnosis.looked_until is not None:
        again = f"look up to the end{'' if command else f': `tenure run --census-at {_spread(diagnosis.steps)}`'}"
        then = f"Next: {again}{':' if command else '.'}"
    elif diagnosis.steps:
        then = "Next: if memory still grows later in the program, record more of it."
    else:
        then = "Next: let the program take at least one optimizer step or model call while it is watched."
    said = f"{found}recorded in {relative_to_here(diagnosis.recording)}"
    lines = [line for text in (said, then) for line in wrap(text, width=width, first="", rest="  ")]
    return "\n".join([*lines, f"  {command}"] if command else lines)


def _next_command(diagnosis: Diagnosis, program: str, *, fixes: bool) -> str:
    """The command to go on with, whole and in one line, so that it pastes and runs; "" where there is none to give."""
    if not program:
        return ""
    if not diagnosis.findings:
        return "" if diagnosis.looked_until is None else f"tenure run --census-at {_spread(diagnosis.steps)} {program}"
    return f"tenure fix {program}" if fixes else f"tenure run {program}"


def has_edits(diagnosis: Diagnosis) -> bool:
    """Whether a finding has an edit."""
    return any(remedy.edits for finding in diagnosis.findings for remedy in finding.remedies)


def _then_prove(to_try: str, command: str) -> str:
    """How to go on: by a run that proves what there is `to_try`, if anything."""
    if not to_try:
        return f"change the line, run again{':' if command else '.'}"
    if command:
        return f"or have {to_try} tried and proved:"
    return f"or `tenure fix` in place of `tenure run`: it tries {to_try} and proves them."


def _spread(steps: int) -> str:
    """Some steps from the first to the last, as `--census-at` takes them: `4,9,14,19,23,28,33,38`."""
    chosen = {max(1, steps * number // CENSUSES_ADVISED) for number in range(1, CENSUSES_ADVISED + 1)}
    return ",".join(str(step) for step in sorted(chosen))
