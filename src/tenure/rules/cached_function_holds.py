"""TN205: `functools.cache` or `lru_cache` keeps the arguments and results of its calls."""

from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import COMPUTED_ONCE, FILLED, Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth
from tenure.rules.path_questions import goes_through_cache
from tenure.rules.source_claim import claim_source
from tenure.syntax.kept.cached_functions import find_cached
from tenure.syntax.program.program import Program


def check_suspect(suspect: Suspect) -> Finding | None:
    """The path goes through the cache of a function, or memory hangs on what a `cached_property` kept of many objects.
    A cache that falls is cleared by the program itself, as is advised."""
    if COMPUTED_ONCE in suspect.facts:
        return _claim_property(suspect)
    if not goes_through_cache(suspect) or suspect.symptom == "peak":
        return None
    what = growth(suspect) if suspect.grows else format_bytes(suspect.retained_bytes)
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"The cache of `{suspect.holder.name}` keeps the arguments and results of its calls: {what}.",
        remedies=(
            "do not cache by tensors or by `self`: compute the value once and store it, cache plain keys with a "
            "small `maxsize`, or call `cache_clear()` when a phase ends",
        ),
        at_most="possible" if suspect.symptom == "sawtooth" else "certain",
    )


def _claim_property(suspect: Suspect) -> Finding:
    """It ends when each of the objects has its own: never more than likely."""
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`{suspect.holder.name}` is a cached property, and {suspect.facts[FILLED]:,} objects until now keep "
        f"its value, each its own: {growth(suspect)}.",
        remedies=("make it a plain `property`, or delete it (`del x.name`) when an object is done with",),
        at_most="likely",
    )


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Functions and methods under `functools.cache` or `lru_cache` that keep tensors, modules, or who has them."""
    for cached in find_cached(program):
        function = cached.function
        what = f"`{cached.keeps}` and every argument and result" if cached.keeps == "self" else cached.keeps
        if cached.keeps not in ("self", "its results"):
            what = f"every `{cached.keeps}` that it was given"
        yield claim_source(
            function,
            cached.head,
            rule=RULE.code,
            name=RULE.name,
            message=f"The cache of `{function.qualname}` keeps {what} as long as the program runs.",
            remedy="compute the value once and store it where it is used, or cache by plain keys, few of them",
        )


RULE = Rule(
    code="TN205",
    name="cached-function-holds",
    summary="A cached function or method keeps tensors, or the object it is a method of, in its cache.",
    check_suspect=check_suspect,
    priority=22,
    edit="bound",
    check_source=check_source,
)
