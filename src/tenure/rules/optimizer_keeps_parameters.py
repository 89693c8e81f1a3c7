"""TN404: an optimizer keeps parameters that nothing trains any more, with their gradients and its state for them."""

from dataclasses import replace

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import UNCHANGED_SINCE, Suspect, is_of_optimizers
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth, plural, subject

_IMPLICIT = ("DICT", "CONTENTS")
_ENTRIES = ("ITEM", "INDEX")
_RENEW = (
    "the optimizer still has the old parameters and their state: make a new optimizer for what is trained now, or take "
    "their group out of `param_groups` and their entries out of `state`"
)
_KEEP_LESS = (
    "keep what is read later instead of the optimizer: its settings as numbers (`optimizer.param_groups[0]['lr']`), or "
    "its `state_dict()` on the CPU; a scheduler refers to its optimizer, and that to the parameters"
)
_DROP_STATE = (
    "if they stay frozen, drop their state where that begins: `for p in frozen.parameters(): optimizer.state.pop(p, "
    "None)`; steps pass parameters without gradients by, and make their state anew should these be trained again"
)


def check_suspect(suspect: Suspect) -> Finding | None:
    """Parameters that lost their place in a model, or ever more of them, that live on behind one optimizer or ever
    more."""
    if UNCHANGED_SINCE in suspect.facts:
        return _of_passed_state(suspect)
    if suspect.through_graph or _by_a_function(suspect):
        return None
    if suspect.grows and _optimizers(suspect) > 1:
        message, remedy = _more_optimizers(suspect), _KEEP_LESS
    elif not any(is_of_optimizers(hop.source_type) for hop in suspect.path):
        return None
    elif suspect.grows and not suspect.holder.element and _leads_straight_to_it(suspect):
        message, remedy = _more_parameters(suspect), _RENEW
    elif suspect.symptom == "survivor":
        message, remedy = _old_parameters(suspect), _RENEW
    else:
        return None
    return claim(suspect, rule=RULE.code, name=RULE.name, message=message, remedies=(remedy,))


def _of_passed_state(suspect: Suspect) -> Finding:
    module = str(suspect.facts.get("module", "")).rpartition(".")[2]
    number = suspect.facts["parameters"]
    holder = suspect.holder
    state = replace(holder, name=f"{holder.name}.state[p]", expression=f"{holder.expression}.state[p]")
    return claim(
        replace(suspect, cut=(state,)),
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'keeps', 'keep')} {format_bytes(suspect.retained_bytes)} of "
        f"state{f' for parameters of {module}' if module else f' for {number} parameters'} that none of its steps "
        f"has changed since step {suspect.facts[UNCHANGED_SINCE]}.",
        remedies=(_DROP_STATE,),
        at_most="possible" if suspect.facts.get("doubt") else "likely",
    )


def _optimizers(suspect: Suspect) -> int:
    return int(str(suspect.facts.get("only_in_optimizers", 0)))


def _more_optimizers(suspect: Suspect) -> str:
    return (
        f"{subject(suspect)} {plural(suspect, 'leads', 'lead')} to ever more optimizers ({_optimizers(suspect)} by "
        f"now), and nothing but these keeps the parameters and state that they have: {growth(suspect)}."
    )


def _more_parameters(suspect: Suspect) -> str:
    return (
        f"{subject(suspect)} {plural(suspect, 'gets', 'get')} ever more parameters and state and "
        f"{plural(suspect, 'gives', 'give')} none up: {growth(suspect)}."
    )


def _old_parameters(suspect: Suspect) -> str:
    released = suspect.facts.get("released")
    what = f"`{released}` was released" if released else "A layer was released"
    return (
        f"{what}, but {subject(suspect)} still {plural(suspect, 'holds', 'hold')} "
        f"{format_bytes(suspect.retained_bytes)} of it."
    )


def _leads_straight_to_it(suspect: Suspect) -> bool:
    """No object of the program's lies between what holds, the optimizer or a table of several, and the optimizer: of a
    chain of sessions, each with a model and an optimizer, the links are to blame."""
    enters = next(at for at, hop in enumerate(suspect.path) if is_of_optimizers(hop.source_type))
    above = [at for at, hop in enumerate(suspect.path[:enters]) if hop.label.strip("'\"") == suspect.holder.name]
    between = suspect.path[above[-1] + 1 : enters] if above else ()
    if between and between[-1].kind in _ENTRIES and all(hop.kind != "DICT" for hop in between[-2:-1]):
        between = between[:-1]
    return not any(hop.user and hop.kind not in _IMPLICIT for hop in between)


def _by_a_function(suspect: Suspect) -> bool:
    """A hook, or what some function closes over, keeps the memory: not the optimizer's own tables."""
    return suspect.holder.kind in ("hook", "closure", "default", "cache")


RULE = Rule(
    code="TN404",
    name="optimizer-keeps-parameters",
    summary="An optimizer keeps the parameters of a replaced or released layer, their gradients and their state, or "
    "the state of a layer that was frozen.",
    check_suspect=check_suspect,
    priority=21,
)
