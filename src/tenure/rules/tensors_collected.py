"""TN202: a list, deque, set or log gains tensors with every step and nothing takes them out."""

import ast
from collections.abc import Iterator

from tenure.model.finding import Confidence, Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import CARRIED_ON, FILLED, FILLED_OF, ON_LAYERS, Suspect
from tenure.rules.claim import (
    claim,
    count,
    growth,
    nodes_per_step,
    outweighs_tensors,
    plural,
    subject,
    within_evaluation,
)
from tenure.rules.path_questions import (
    collects_callbacks,
    comes_to_much,
    is_dict,
    merely_counts,
    most_have_it,
    short_type,
)
from tenure.rules.source_claim import claim_source
from tenure.rules.source_gathered import claim_gathered, gathered_as
from tenure.syntax.kept.chained import find_chained
from tenure.syntax.kept.cycled_loaders import find_cycled_loaders
from tenure.syntax.kept.logged_records import find_logged_records
from tenure.syntax.program.program import Program

_REMEDY = (
    "keep a number, a running sum or a `deque(maxlen=n)` instead of every tensor; move to the CPU or to disk what must "
    "be kept"
)
_OF_CALLBACKS = (
    "take it out where its owner's work ends, as a method `unsubscribe` would, or keep a `weakref.WeakMethod` of it: "
    "each leads to its object and all that is below"
)
_OF_TABLE = "take an entry out where its session, task or episode ends: `del table[key]`; or keep a number of each"


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth by elements of a sequence or set, of a dict whose keys merely count, or of a chain of objects; and of a
    tensor that is joined with what comes."""
    if not suspect.grows or suspect.through_graph:
        return None
    if "chain_of" in suspect.facts:
        return _claim_chain(suspect)
    if within_evaluation(suspect):
        return _claim_within_evaluation(suspect)
    if any(short_type(hop.target_type) == "_tee_dataobject" for hop in suspect.path):
        return _claim_tee(suspect)
    if FILLED in suspect.facts:
        return _claim_attributes(suspect)
    if CARRIED_ON in suspect.facts and suspect.swells:
        return _claim_longer(suspect)
    if not suspect.holder.element:
        return None
    is_mapping = is_dict(suspect.holder.container_type) or "keys" in suspect.facts
    if is_mapping and not merely_counts(suspect):
        return None
    called = collects_callbacks(suspect)
    remedy = _OF_CALLBACKS if called else _OF_TABLE if is_mapping else _REMEDY
    until = f", until emptied every {suspect.period_steps} steps" if suspect.period_steps else ""
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'gains', 'gain')} {'callbacks' if called else 'tensors'} and "
        f"{plural(suspect, 'loses', 'lose')} none{until}: "
        f"{growth(suspect)}.",
        remedies=(*_reset(suspect), *_in_order(suspect, remedy)),
        at_most=_at_most(suspect),
    )


def _at_most(suspect: Suspect) -> Confidence:
    return "certain" if suspect.symptom == "growth" and comes_to_much(suspect) else "possible"


def _reset(suspect: Suspect) -> tuple[str, ...]:
    """What to call where the object that collects has a method for it."""
    empties = suspect.facts.get("emptied_by")
    return (f"call `{empties}()` once its result is read, as at the end of an epoch",) if empties else ()


def _in_order(suspect: Suspect, remedy: str) -> tuple[str, ...]:
    """The remedy, and what else to do where autograd nodes pile up with the tensors; that first, where it is more."""
    nodes = nodes_per_step(suspect)
    if nodes < 1:
        return (remedy,)
    every_step = count(nodes, "autograd node")
    cut = f"keep them without their graphs, `x.detach()`: {every_step} per step live on with them on the host"
    return (cut, remedy) if outweighs_tensors(suspect) else (remedy, cut)


def _claim_within_evaluation(suspect: Suspect) -> Finding:
    gains = f"{subject(suspect)} {plural(suspect, 'gains', 'gain')} memory with every"
    if "no_step_after" in suspect.facts:
        return claim(
            suspect,
            rule=RULE.code,
            name=RULE.name,
            message=f"{gains} call of the model that trains nothing: {growth(suspect)}.",
            remedies=("bound it, empty it, or keep of each result what is read later",),
        )
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{gains} batch that is evaluated: {growth(suspect)}.",
        remedies=(
            "move results to the CPU as they come (transformers: `eval_accumulation_steps`), or keep what the metric "
            "needs of them: labels and predicted classes instead of logits",
        ),
    )


def _claim_attributes(suspect: Suspect) -> Finding:
    """It ends when each of the objects has its own: never more than likely."""
    name, of = suspect.holder.name, suspect.facts.get(FILLED_OF)
    remedy = "compute it where it is needed, or keep that of the newest objects only"
    if ON_LAYERS in suspect.facts:
        remedy = f"take it from the layers again once it is read, `del layer.{name}`, also where a hook is removed"
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`{suspect.holder.expression}` keeps a tensor of one object after the other, "
        f"{suspect.facts[FILLED]:,}{f' of {of:,}' if of else ''} until now: {growth(suspect)}.",
        remedies=(remedy,),
        at_most="possible" if most_have_it(suspect) else "likely",
    )


def _claim_longer(suspect: Suspect) -> Finding:
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'is', 'are')} made longer with every step, and never shorter: "
        f"{growth(suspect)}.",
        remedies=(_REMEDY,),
        at_most=_at_most(suspect),
    )


def _claim_tee(suspect: Suspect) -> Finding:
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`itertools.tee` behind {subject(suspect)} keeps what one of its iterators has given until the others "
        f"have given it too: {growth(suspect)}.",
        remedies=(
            "drop the iterator that is not read on, or take what is looked at first (`first = next(batches)`) and "
            "give it back by `itertools.chain([first], batches)`",
        ),
        at_most=_at_most(suspect),
    )


def _claim_chain(suspect: Suspect) -> Finding:
    what = short_type(str(suspect.facts["chain_of"]))
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"By {subject(suspect)} every `{what}` keeps the one before, and so all of them live on with their "
        f"tensors: {growth(suspect)}.",
        remedies=(
            "let the one before go when its work is done: set the link to None, take its numbers over, or give a "
            "context variable its former value back (`variable.reset(token)`)",
        ),
        at_most="certain" if suspect.symptom == "growth" else "possible",
    )


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Containers that live on, gain tensors again and again, and that nothing empties."""
    for gathered in gathered_as(program, "tensor"):
        yield claim_gathered(
            gathered,
            rule=RULE.code,
            name=RULE.name,
            remedy="keep what is asked for later, or bound it: `deque(maxlen=n)`, or `.clear()` once it is used",
        )
    for chained in find_chained(program):
        yield claim_source(
            chained.maker,
            chained.linking,
            rule=RULE.code,
            name=RULE.name,
            message=f"by `{chained.link}` each object that `{chained.place}` is given keeps the one before it.",
            remedy="let the one before go once its work is done, or keep the last few in a `deque(maxlen=n)`",
        )
    for cycled in find_cycled_loaders(program):
        yield claim_source(
            cycled.function,
            cycled.call,
            rule=RULE.code,
            name=RULE.name,
            message="`itertools.cycle` keeps every batch of the loader's first pass, and gives the same ones again.",
            remedy="begin the loader anew: `while True: yield from loader`",
        )
    for logged in find_logged_records(program):
        yield claim_source(
            logged.function,
            logged.call,
            rule=RULE.code,
            name=RULE.name,
            message=f"each record of this line keeps `{ast.unparse(logged.value)}`, and a handler keeps the records.",
            remedy="log a number or a text: `x.mean().item()`, `str(tuple(x.shape))`",
        )


RULE = Rule(
    code="TN202",
    name="tensors-collected",
    summary="Predictions, samples, features or batches are appended at every step and never taken out.",
    check_suspect=check_suspect,
    priority=60,
    check_source=check_source,
    edit="reset",
)
