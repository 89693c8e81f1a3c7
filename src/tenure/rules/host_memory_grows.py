"""TN601: memory of the host that no tensor owns grows with the steps: bytes, arrays, text, tables of records."""

from tenure.model.finding import Confidence, Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, growth, plural, subject

FAST_BYTES_PER_STEP = 4 * 1024
"""Growth slower than this is a hint: a log of a run is as large as the run is long."""


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth of what the census shows on the device "host"."""
    if suspect.device != "host" or suspect.symptom != "growth":
        return None
    held = suspect.facts.get("host_type") or "objects"
    fast = (suspect.growth_bytes_per_step or 0) >= FAST_BYTES_PER_STEP
    at_most: Confidence = "certain" if fast and suspect.holder_is_yours else "possible"
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'grows', 'grow')} in the host's memory by {growth(suspect)} of "
        f"`{held}`, and {plural(suspect, 'loses', 'lose')} none.",
        remedies=(
            "write it to disk and keep the path, keep the best few or the last few (`deque(maxlen=n)`), or keep a sum "
            "of it",
        ),
        at_most=at_most,
    )


RULE = Rule(
    code="TN601",
    name="host-memory-grows",
    summary="Bytes, NumPy arrays, text or records without tensors pile up in the host's memory.",
    check_suspect=check_suspect,
    priority=5,
)
