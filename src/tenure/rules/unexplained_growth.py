"""TN900: memory that grows, is carried or survives, and that no rule explains; all that is known is told."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import CARRIED_ON, FOR_THE_STEP, INSIDE_OF_IDLE, Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.path_questions import short_type

_LEAST_BYTES = 1 << 10
_LASTS = ("growth", "survivor", "cycle")
_KNOWN = frozenset({FOR_THE_STEP, INSIDE_OF_IDLE})
_VERB = {"growth": ("grows", "grow"), "sawtooth": ("grows and falls", "grow and fall")}


def check_suspect(suspect: Suspect) -> Finding | None:
    """Claims whatever is left and comes to something.

    What is emptied now and then may be meant so (a metric until its reset), and so may what no forward made and the
    next one finds there (a batch that is used twice); what each step uses that finds it there is no news at all,
    and what idles at the peak under the same name is told as that.
    """
    if "they_hold" in suspect.facts:
        return _of_unseen_owners(suspect)
    if _is_next_to_nothing(suspect) or (suspect.symptom == "peak" and not _KNOWN.isdisjoint(suspect.facts)):
        return None
    if suspect.symptom in _VERB:
        told = f"{plural(suspect, *_VERB[suspect.symptom])}: {growth(suspect)}"
    else:
        told = f"{plural(suspect, 'holds', 'hold')} {format_bytes(suspect.retained_bytes)}"
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {told}; no known cause fits.",
        remedies=("bound it, empty it, or keep less in it",),
        at_most="certain" if suspect.symptom in _LASTS and not _is_a_result_that_swells(suspect) else "possible",
    )


def _is_a_result_that_swells(suspect: Suspect) -> bool:
    """A variable's value that is larger from step to step, and not computed from the one before: of something else."""
    is_result = suspect.swells and suspect.holder.kind == "local" and not suspect.holder.element
    return is_result and CARRIED_ON not in suspect.facts and not suspect.through_graph


def _is_next_to_nothing(suspect: Suspect) -> bool:
    """A few numbers that get a few more, as prompts that get longer by a word."""
    return suspect.retained_bytes < _LEAST_BYTES and not suspect.num_graph_nodes


def _of_unseen_owners(suspect: Suspect) -> Finding:
    """What nothing holds that Python shows: the types of it are all that tells who keeps it."""
    held, further = (_types(suspect.facts.get(name)) for name in ("they_hold", "leading_to"))
    leading = f", leading to {further}" if further and further != held else ""
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"Owners that are not visible to Python hold more and more: {growth(suspect)}, by {held}{leading}; "
        "no variable, module or object refers to them.",
        remedies=(
            "look for what C or C++ code was given to keep: hooks on graph nodes (`tensor.grad_fn.register_hook`), "
            "callbacks, objects in extension modules; remove it, or let it reach its owner by `weakref`",
        ),
    )


def _types(found: object) -> str:
    """`24 OrderedDict, 3 Tensor`."""
    if not isinstance(found, dict):
        return ""
    return ", ".join(f"{number} {short_type(str(name))}" for name, number in found.items())


RULE = Rule(
    code="TN900",
    name="unexplained-growth",
    summary="Memory grows or stays and no rule knows why; path, holder and bytes are known.",
    check_suspect=check_suspect,
    priority=1000,
)
