"""TN201: one scalar tensor per step is kept in a container, on the device, until a log (or for ever)."""

from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, count, plural, subject
from tenure.rules.path_questions import comes_at_pace
from tenure.rules.source_gathered import claim_gathered, gathered_as
from tenure.syntax.program.program import Program

BLOCK_BYTES = 512
"""What a device's allocator gives a scalar."""
NOTABLE_BYTES = 1 << 20
"""So much is worth more than a hint though it falls again."""


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth or sawtooth of one-element tensors without a graph."""
    if not suspect.grows or suspect.through_graph or not suspect.scalars:
        return None
    pinned = " Each is a view of a larger storage, which stays with it." if suspect.pinned_bytes else ""
    period = f", until it is emptied every {suspect.period_steps} steps" if suspect.period_steps else ""
    per_step = suspect.growth_objects_per_step or 1
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'gains', 'gain')} {count(per_step, 'scalar tensor')} per step"
        f"{period}.{pinned}",
        remedies=(
            "add each into one running tensor on the device (`total += loss.detach()`, a counter beside it) and read "
            "it with `.item()` only when logging: constant memory, no synchronisation per step",
        ),
        at_most="possible" if _is_small_on_purpose(suspect) else "certain",
    )


def _is_small_on_purpose(suspect: Suspect) -> bool:
    return _is_emptied_soon(suspect) or _is_a_curve(suspect) or _is_a_librarys_own(suspect)


def _is_a_librarys_own(suspect: Suspect) -> bool:
    """Whether a library's object keeps a few, by its own code: the record of losses that its users ask it for."""
    few = suspect.num_objects * BLOCK_BYTES < NOTABLE_BYTES
    return not suspect.holder_is_yours and few and not suspect.pinned_bytes


def _is_emptied_soon(suspect: Suspect) -> bool:
    """Whether a few scalars that are their own storages were seen to fall again: to keep them until the next log is
    what saves a synchronisation at every step."""
    scalars = suspect.falls.amplitude_objects if suspect.falls else None
    return scalars is not None and not suspect.pinned_bytes and scalars * BLOCK_BYTES < NOTABLE_BYTES


def _is_a_curve(suspect: Suspect) -> bool:
    """Whether a scalar comes now and then, one per epoch or evaluation, of nothing larger: it is to be drawn."""
    return not comes_at_pace(suspect) and not suspect.pinned_bytes and suspect.retained_bytes < NOTABLE_BYTES


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Lists of one-number tensors that gain one each step and are emptied at intervals or never."""
    for gathered in gathered_as(program, "number"):
        yield claim_gathered(
            gathered,
            rule=RULE.code,
            name=RULE.name,
            remedy="add up on the device (`total += loss.detach()`), or keep `loss.item()`",
        )


RULE = Rule(
    code="TN201",
    name="device-scalars-kept-between-logs",
    summary="Losses or metrics are kept as one tensor per step in a container.",
    check_suspect=check_suspect,
    priority=50,
    check_source=check_source,
)
