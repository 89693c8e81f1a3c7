"""TN205: `functools.cache` or `lru_cache` keeps the arguments and results of its calls."""

from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth
from tenure.rules.path_questions import GROWING, goes_through_cache
from tenure.rules.source_claim import claim_source
from tenure.syntax.cached_methods import cache_decorator, find_cached_methods
from tenure.syntax.program import Program


def check_suspect(suspect: Suspect) -> Finding | None:
    """The path goes through the cache of a function."""
    if not goes_through_cache(suspect) or suspect.symptom == "peak":
        return None
    what = growth(suspect) if suspect.symptom in GROWING else format_bytes(suspect.retained_bytes)
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"The cache of `{suspect.holder.name}` keeps the arguments and results of its calls: {what}.",
        remedies=(
            "do not cache by tensors or by `self`: compute the value once and store it, cache plain keys with a "
            "small `maxsize`, or call `cache_clear()` when a phase ends",
        ),
    )


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Methods of modules under `functools.cache` or `lru_cache`: the cache keeps the module, and tensors as keys."""
    for function in find_cached_methods(program):
        yield claim_source(
            function,
            cache_decorator(function),
            rule=RULE.code,
            name=RULE.name,
            message=f"The cache of `{function.class_name}.{function.name}` keeps `self` and every argument and result "
            "as long as the class lives.",
            remedy="compute the value once and store it on `self`, or cache plain keys in a function of their own",
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
