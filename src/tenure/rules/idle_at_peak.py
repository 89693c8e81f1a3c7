"""TN106: memory that is alive at the step's peak though its last use was before."""

import dataclasses

from tenure.model.finding import Confidence, Finding
from tenure.model.rule import Rule
from tenure.model.suspect import (
    BESIDE_STATE,
    COPIED_TO_GROW,
    DRAWN,
    GRAPHS_IN_TURN,
    HANDED_ON,
    IN_WINDOW,
    NEVER_READ_AGAIN,
    PEAK_NOT_MET,
    READ_BEFORE,
    SHARE_IN_GENERATOR,
    UNREAD_FIELD,
    UNREAD_MODULE,
    WAITS,
    Suspect,
)
from tenure.rules import beside_state
from tenure.rules.claim import claim, plural, subject

_CONTAINERS = ("list", "dict", "set", "collections.deque")

NOTABLE_SHARE = 0.10
"""Of the peak. What takes less off it is a hint."""

NOTABLE_BYTES = 128 << 10
"""Less is a hint: of a trial it may be a tenth, of what the program is to be it is not known to be."""

NOTABLE_SHARE_IN_PASSING = 0.25
"""The same for what goes soon by itself (`_is_passing`)."""

NOTABLE_COPY = 1 << 20
"""Concatenating what is small is the plain way to write it, and no mistake: below this it is a hint."""


MANY_GRAPHS = 3
"""Graphs that wait for one backward: with fewer it is a hint."""

MANY_FUNCTIONS = 3
"""A batch that so many running functions hand down to each other is no one's to drop by a line."""


def check_suspect(suspect: Suspect) -> Finding | None:
    """Memory that the profiled step shows to be idle at its peak."""
    if BESIDE_STATE in suspect.facts:
        return _beside_state(suspect)
    if not suspect.facts.get("idle_at_peak") or UNREAD_MODULE in suspect.facts:
        return None
    suspect = _with_statement_seen(suspect)
    copied = COPIED_TO_GROW in suspect.facts
    message, remedy = (_copied_message(suspect), _PREALLOCATE) if copied else (_message(suspect), _remedy(suspect))
    finding = claim(suspect, rule=RULE.code, name=RULE.name, message=message, remedies=(remedy,))
    at_most: Confidence = "certain"
    if copied:
        at_most = "likely" if (suspect.peak_drop_bytes or 0) >= NOTABLE_COPY else "possible"
    order = ("possible", "likely", "certain").index
    return dataclasses.replace(finding, confidence=min(_confidence(suspect), at_most, key=order))


def _beside_state(suspect: Suspect) -> Finding:
    message, remedies = beside_state.message(suspect), (beside_state.remedy(suspect),)
    finding = claim(suspect, rule=RULE.code, name=RULE.name, message=message, remedies=remedies)
    return dataclasses.replace(finding, confidence=beside_state.confidence(suspect))


def _with_statement_seen(suspect: Suspect) -> Suspect:
    """Of several statements that may have made the reference, the one that was seen to make the memory."""
    holder, seen = suspect.holder, suspect.facts.get("made_by")
    if not isinstance(seen, dict):
        return suspect
    exact = tuple(site for site in holder.sites if (site.file, site.line) == (seen.get("file"), seen.get("line")))
    if not exact or len(holder.sites) == 1:
        return suspect
    holder = dataclasses.replace(holder, sites=exact)
    cut = tuple(holder if each.name == holder.name else each for each in suspect.cut)
    return dataclasses.replace(suspect, holder=holder, cut=cut, ambiguous=False)


_PREALLOCATE = (
    "make it once at its full length and write new entries into a slice, or collect the pieces in a list and "
    "concatenate them once"
)


def _message(suspect: Suspect) -> str:
    if suspect.facts.get("autocast_cache"):
        return (
            f"{subject(suspect)} keeps {suspect.num_objects:,} weights that it has cast until its region ends; at the "
            "step's peak nothing uses them any more."
        )
    if GRAPHS_IN_TURN in suspect.facts:
        return (
            f"{suspect.facts[GRAPHS_IN_TURN]} graphs alike wait in {subject(suspect)} for one backward, though each "
            "could be sent backward, and freed, before the next is made."
        )
    if WAITS in suspect.facts:
        return (
            f"{subject(suspect)} {plural(suspect, 'waits', 'wait')} through the step's peak for "
            f"{_place_of(suspect, WAITS) or 'a later operation'}, which could run before it."
        )
    if READ_BEFORE in suspect.facts:
        return _read_before_message(suspect)
    if suspect.facts.get("rests"):
        return (
            f"No {_who_reads(suspect)} {subject(suspect)}, but "
            f"{plural(suspect, 'it holds', 'they hold')} memory at their peak; {_how_it_stays(suspect)}."
        )
    if NEVER_READ_AGAIN in suspect.facts:
        holds = plural(suspect, "it still holds", "they still hold")
        return f"No statement reads {subject(suspect)} any more, but {holds} memory in every step."
    return (
        f"{subject(suspect)} {plural(suspect, 'is', 'are')} not used any more{_last_use(suspect)} "
        f"but still {plural(suspect, 'holds', 'hold')} memory at the step's peak{_peak_phase(suspect)}."
    )


def _who_reads(suspect: Suspect) -> str:
    if UNREAD_FIELD in suspect.facts:
        return "statement of the program reads any more, and no operation of the profiled steps used,"
    return "operation of the profiled steps used"


def _read_before_message(suspect: Suspect) -> str:
    readers = _readers(suspect)
    how = f" ({', '.join(f'`{each}`' for each in readers)} did)" if readers else " for more than its shape"
    return (
        f"Nothing that may still run reads {subject(suspect)}{how}, but "
        f"{plural(suspect, 'it holds', 'they hold')} memory at the profiled steps' peak; {_how_it_stays(suspect)}."
    )


def _readers(suspect: Suspect) -> list[str]:
    readers = suspect.facts.get(READ_BEFORE)
    return [str(each) for each in readers] if isinstance(readers, (list, tuple)) else []


def _how_it_stays(suspect: Suspect) -> str:
    step, times = suspect.facts.get("last_seen_step"), suspect.facts.get("times_replaced")
    if times:
        return f"between censuses other memory took its place {times} time{'' if times == 1 else 's'}, to step {step}"
    return f"still there at step {step}"


def _copied_message(suspect: Suspect) -> str:
    return f"{subject(suspect)} grows by concatenation: at the step's peak the old copy and the new one are both alive."


def _confidence(suspect: Suspect) -> Confidence:
    """Path and fall of the peak are measured; that it is so in every step only where both profiled steps show it.

    What no operation used may be used in another phase of the program, unless no statement reads it: code that is not
    the program's may; a phase that another exceeds has no say in how much memory the program needs. What is
    returned may be used in another step, where no backward pass of this one is under way.
    What might be used up before is a question of the program's order, which nobody tried.
    What a running backward function keeps on its ctx goes with the graph a moment later. Within the statement that
    makes the peak a variable it uses cannot be dropped. The last few entries of a bounded container may be meant.
    Names that were seen elsewhere in the step than at its peak may be others there.
    """
    of_peak = (suspect.peak_drop_bytes or 0) / (suspect.peak_bytes or suspect.peak_drop_bytes or 1)
    share = float(str(suspect.facts.get(SHARE_IN_GENERATOR, of_peak)))
    small = (suspect.peak_drop_bytes or NOTABLE_BYTES) < NOTABLE_BYTES
    unread = not {UNREAD_FIELD, READ_BEFORE}.isdisjoint(suspect.facts)
    meant = suspect.facts.get(IN_WINDOW) or (suspect.facts.get("rests") and not unread)
    if small or meant or _are_few_graphs(suspect) or suspect.facts.get("higher_peak_bytes"):
        return "possible"
    if (
        share < (NOTABLE_SHARE_IN_PASSING if _is_passing(suspect) else NOTABLE_SHARE)
        or not suspect.holder_is_yours
        or PEAK_NOT_MET in suspect.facts
        or "ctx_type" in suspect.facts
        or (HANDED_ON in suspect.facts and _phase(suspect, "peak_at") != "backward")
        or _peaks_where_last_used(suspect)
    ):
        return "possible"
    if len({each.scope_function for each in suspect.cut if each.kind == "local"}) >= MANY_FUNCTIONS:
        return "possible"
    proved = suspect.holder.sites and not suspect.ambiguous and suspect.facts.get("seen_in_both_steps")
    inferred = unread or not {HANDED_ON, WAITS, GRAPHS_IN_TURN}.isdisjoint(suspect.facts)
    return "certain" if proved and not inferred else "likely"


def _are_few_graphs(suspect: Suspect) -> bool:
    """Two graphs may be meant, as a discriminator's of a true and a made sample."""
    number = suspect.facts.get(GRAPHS_IN_TURN)
    return isinstance(number, int) and number < MANY_GRAPHS


def _peaks_where_last_used(suspect: Suspect) -> bool:
    return _is_of_one_statement(suspect) and all(each.kind == "local" for each in suspect.cut)


def _is_of_one_statement(suspect: Suspect) -> bool:
    """Whether the statement that uses the memory for the last time is the one that makes the peak."""
    last, peak = (suspect.facts.get(name) for name in ("last_used_by", "peak_at"))
    if not (isinstance(last, dict) and isinstance(peak, dict) and last.get("line")):
        return False
    return (last.get("file"), last.get("line")) == (peak.get("file"), peak.get("line"))


def _is_passing(suspect: Suspect) -> bool:
    """Variables from before the step or for a batch that it draws, what a graph keeps, what a generator's next turn
    binds anew, what is yet to be used or sent backward, and what the peak's own statement uses last: in an earlier
    round of its loop, or a moment before. A backward pass is no such statement, it goes through the whole graph.
    """
    if not {SHARE_IN_GENERATOR, WAITS, GRAPHS_IN_TURN}.isdisjoint(suspect.facts):
        return True
    copied = COPIED_TO_GROW in suspect.facts
    if _is_of_one_statement(suspect) and _phase(suspect, "peak_at") != "backward" and not copied:
        return True
    only_variables = all(each.kind in ("local", "global") for each in suspect.cut)
    of_data = bool(suspect.facts.get("made_before_step") or DRAWN in suspect.facts) and not copied
    return only_variables and (of_data or bool(suspect.facts.get("kept_by_graph")))


def _remedy(suspect: Suspect) -> str:
    names = list(dict.fromkeys(each.name for each in suspect.cut if each.kind in ("local", "global")))
    kept = list(dict.fromkeys(each.expression for each in suspect.cut if each.kind not in ("local", "global")))
    if NEVER_READ_AGAIN in suspect.facts:
        return f"`del {', '.join(names)}` after the last use"
    if suspect.facts.get("autocast_cache"):
        return "`torch.autocast(..., cache_enabled=False)` where a region uses each weight once, as without a backward"
    if suspect.facts.get("rests"):
        held = ", ".join(f"`{text}`" for text in dict.fromkeys(each.expression for each in suspect.cut))
        if suspect.facts.get("rests_in_each_entry"):
            return f"keep of each entry a copy of what is used, without {held}: a part of it may be a view of more"
        if UNREAD_FIELD in suspect.facts:
            return f"do not keep {held}: nothing asks for it"
        if READ_BEFORE in suspect.facts:
            last = " and ".join(f"`{each}`" for each in _readers(suspect)) or "what fills it"
            return f"let go of {held} after {last}; keep beside it what is asked later, as its shape"
        emptied = f"empty {held}" if _holds_container(suspect) else f"set {held} to None"
        return f"{emptied} once it is used, or move it to the host until another phase needs it"
    if GRAPHS_IN_TURN in suspect.facts:
        return "call `backward()` on each part as soon as it is there (gradients add up), and keep its `.item()` to log"
    if WAITS in suspect.facts:
        return _remedy_of_what_waits(suspect)
    if HANDED_ON in suspect.facts:
        return _remedy_of_results(suspect)
    before = "before backward" if _phase(suspect, "peak_at") == "backward" else "before the peak"
    parts = [f"`del {', '.join(names)}` after the last use, {before}"] if names else []
    parts += (
        [f"do not keep {', '.join(f'`{text}`' for text in kept)}, or set it to None after the last use"] if kept else []
    )
    if suspect.through_graph:
        parts.append("what needs no gradient belongs under `torch.no_grad()`")
    return "; ".join(parts)


def _holds_container(suspect: Suspect) -> bool:
    """Whether what is dropped is an attribute with a container of Python's, which the program goes on to fill."""
    kinds = {hop.target_type for hop in suspect.path if hop.label.strip("'\"") == suspect.holder.name}
    return len(suspect.cut) == 1 and not kinds.isdisjoint(_CONTAINERS)


def _remedy_of_what_waits(suspect: Suspect) -> str:
    held = ", ".join(f"`{text}`" for text in dict.fromkeys(each.expression for each in suspect.cut))
    return f"run {_place_of(suspect, WAITS) or 'what uses it'} as soon as {held} is there, and keep only its result"


def _remedy_of_results(suspect: Suspect) -> str:
    names = suspect.facts[HANDED_ON]
    told = " and ".join(f"`{name}`" for name in (names if isinstance(names, tuple) else ()))
    return f"return of {told} only what the caller uses: of a part a copy, of what nobody asks for nothing"


def _last_use(suspect: Suspect) -> str:
    place = _place_of(suspect, "last_used_by")
    return f" after {place}" if place else ""


def _place_of(suspect: Suspect, name: str) -> str:
    place = suspect.facts.get(name)
    if not isinstance(place, dict) or not place.get("line"):
        return ""
    return f"{str(place['file']).replace(chr(92), '/').rsplit('/', 1)[-1]}:{place['line']}"


def _peak_phase(suspect: Suspect) -> str:
    phase = _phase(suspect, "peak_at")
    return f", in the {phase} pass" if phase in ("forward", "backward") else ""


def _phase(suspect: Suspect, name: str) -> str:
    place = suspect.facts.get(name)
    return str(place.get("phase", "")) if isinstance(place, dict) else ""


RULE = Rule(
    code="TN106",
    name="idle-at-peak",
    summary="Memory that no operation uses any more is still alive when the step's memory peaks.",
    check_suspect=check_suspect,
    priority=1,
    edit="drop",
)
