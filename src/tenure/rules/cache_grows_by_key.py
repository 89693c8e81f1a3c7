"""TN203: a dict used as a cache meets ever new keys (shapes, lengths, ids) and has no bound."""

from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.path_questions import comes_to_much, is_dict, merely_counts
from tenure.rules.source_claim import claim_source
from tenure.rules.source_gathered import claim_gathered, gathered_as
from tenure.syntax.kept.weak_tables import find_weak_tables
from tenure.syntax.program.open_keys import is_step_number, key_of
from tenure.syntax.program.program import Program

_BOUND = (
    "bound it: key by a rounded-up size, build the largest once and slice it, drop the oldest entry "
    "(`OrderedDict.popitem(last=False)`), or use `functools.lru_cache(maxsize=n)`"
)
_BOUND_IN_SOURCE = "bound it: drop the oldest entry beyond some number, or keep one entry"
_OF_STEPS = "keep the last few (`deque(maxlen=n)`), `pop` an entry once it is used, or keep a number of it (`x.item()`)"
"""A step's number does not come again: nothing is to be found under it later."""


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth by entries of a mapping whose keys do not merely count, or are looked for before an entry is made."""
    facts = suspect.facts
    keys = facts.get("keys")
    is_mapping = is_dict(suspect.holder.container_type) or keys is not None
    if not suspect.grows or not suspect.holder.element or not is_mapping:
        return None
    if merely_counts(suspect):
        return None
    keys_rise = facts.get("keys_rise") or facts.get("keys_count_up")
    examples = f" (the newest: {', '.join(f'`{key}`' for key in keys[-3:])})" if isinstance(keys, list) else ""
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'gets', 'get')} an entry for every new key{examples} and "
        f"{plural(suspect, 'drops', 'drop')} none: {growth(suspect)}.",
        remedies=(f"as numbers of steps its keys only rise: {_OF_STEPS}",) if keys_rise else (_BOUND,),
        at_most="certain"
        if suspect.symptom == "growth" and comes_to_much(suspect) and not _may_fill(suspect)
        else "possible",
    )


def _may_fill(suspect: Suspect) -> bool:
    """Whether its growth may as well be none: keys that are drawn from a few fill a table ever more slowly."""
    intervals = (suspect.objects_interval, suspect.bytes_interval)
    return all(interval is not None and interval[0] < 0 for interval in intervals)


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Tables of tensors by keys that are other ones again and again, without a bound."""
    for gathered in gathered_as(program, "cache"):
        yield claim_gathered(
            gathered,
            rule=RULE.code,
            name=RULE.name,
            remedy=_OF_STEPS if is_step_number(key_of(gathered.keep)) else _BOUND_IN_SOURCE,
        )
    for weak in find_weak_tables(program):
        yield claim_source(
            weak.function,
            weak.keep.node,
            rule=RULE.code,
            name=RULE.name,
            message=f"what `{weak.keep.place}` has at `{weak.key}` leads to `{weak.key}`: the weak key never goes.",
            remedy="keep in the value what it needs of the key, or a `weakref.ref` to it",
        )


RULE = Rule(
    code="TN203",
    name="cache-grows-by-key",
    summary="A cache keyed by shape, length, identity or name gains an entry for every new key and has no bound.",
    check_suspect=check_suspect,
    priority=55,
    check_source=check_source,
)
