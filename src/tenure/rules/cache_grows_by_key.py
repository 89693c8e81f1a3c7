"""TN203: a dict used as a cache meets ever new keys (shapes, lengths, ids) and has no bound."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.path_questions import GROWING, comes_to_much, is_dict


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth by entries of a mapping whose keys do not merely count the steps."""
    keys = suspect.facts.get("keys")
    is_mapping = is_dict(suspect.holder.container_type) or keys is not None
    if suspect.symptom not in GROWING or not suspect.holder.element or not is_mapping:
        return None
    if suspect.facts.get("keys_count_up"):
        return None
    examples = f" (the newest: {', '.join(f'`{key}`' for key in keys[-3:])})" if isinstance(keys, list) else ""
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'gets', 'get')} an entry for every new key{examples} and "
        f"{plural(suspect, 'drops', 'drop')} none: {growth(suspect)}.",
        remedies=(
            "bound it: key by a rounded-up size, build the largest once and slice it, drop the oldest entry "
            "(`OrderedDict.popitem(last=False)`), or use `functools.lru_cache(maxsize=n)`",
        ),
        at_most="certain" if suspect.symptom == "growth" and comes_to_much(suspect) else "possible",
    )


RULE = Rule(
    code="TN203",
    name="cache-grows-by-key",
    summary="A cache keyed by shape, length, identity or name gains an entry for every new key and has no bound.",
    check_suspect=check_suspect,
    priority=55,
)
