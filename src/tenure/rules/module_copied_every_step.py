"""TN402: whole modules, state dicts or metrics are copied and kept, one more every few steps."""

from collections.abc import Iterator
from itertools import pairwise

from tenure.model.finding import Confidence, Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.path_questions import NOTABLE_BYTES, collects_callbacks, comes_at_pace, most_have_it, short_type
from tenure.rules.source_gathered import claim_gathered, gathered_as
from tenure.syntax.program.program import Program

_TABLES_OF_MODULES = ("ModuleDict", "ModuleList")
_STATES = ("dict", "OrderedDict", "defaultdict")
_KEEP_ONE = "keep the last or best copy only, on the CPU, and overwrite it; keep numbers instead of objects"
_TAKE_OUT = (
    "take out what its part of the program is done with, by what undoes the call that added it (`delete_adapter` for "
    "`add_adapter`) or `del modules[name]`; of copies keep the last or best one"
)


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth made of further objects of one class of module or metric, or of parameter copies, unless callbacks that
    pile up lead to them."""
    if not suspect.grows or not suspect.copies_of or suspect.through_graph or collects_callbacks(suspect):
        return None
    name = short_type(suspect.copies_of)
    type_name = "a model's state" if name in _STATES else name
    parts = bool(suspect.holder.library_sites) and _is_table_of_modules(suspect)
    verb = (
        f"{plural(suspect, 'gains', 'gain')} another {type_name} each time and {plural(suspect, 'loses', 'lose')} none"
        if parts
        else f"{plural(suspect, 'collects', 'collect')} copies of {type_name}"
    )
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {verb}: {growth(suspect)}.",
        remedies=(_TAKE_OUT if parts else _KEEP_ONE,),
        at_most=_at_most(suspect),
    )


def _at_most(suspect: Suspect) -> Confidence:
    comes_to_much = comes_at_pace(suspect) or suspect.retained_bytes >= NOTABLE_BYTES
    return "certain" if comes_to_much and not most_have_it(suspect) else "possible"


def _is_table_of_modules(suspect: Suspect) -> bool:
    """What gains elements is a ModuleDict or a ModuleList."""
    owners = [before.source_type for before, hop in pairwise(suspect.path) if hop.label == "'_modules'"]
    return bool(owners) and short_type(owners[-1]) in _TABLES_OF_MODULES


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Copies of modules or of their states that are added to a container nothing empties."""
    for gathered in gathered_as(program, "copy"):
        yield claim_gathered(
            gathered,
            rule=RULE.code,
            name=RULE.name,
            remedy="keep the best copy alone, or write it to disk",
        )


RULE = Rule(
    code="TN402",
    name="module-copied-every-step",
    summary="Copies of a model, its state or a metric pile up.",
    check_suspect=check_suspect,
    priority=35,
    check_source=check_source,
)
