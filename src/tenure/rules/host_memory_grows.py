"""TN601: memory of the host that no tensor owns grows with the steps: bytes, arrays, text, threads, files."""

from tenure.model.finding import Confidence, Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.path_questions import is_much_in_a_cache

_CLONE = "`clone()` what is kept of a batch from a loader with `pin_memory`, and pin buffers once"
_FIXED_SIZES = "pin a few buffers of fixed sizes once and copy into them: each block is rounded up to a power of two"
FAST_BYTES_PER_STEP = 4 * 1024
"""Growth slower than this is a hint: a log of a run is as large as the run is long."""


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth of what the census shows on the device "host", and of what it counts beside the heap."""
    if "counted" in suspect.facts:
        return _pile_up(suspect)
    if "pinned_in_use" in suspect.facts:
        return _pinned(suspect)
    if suspect.device != "host" or suspect.symptom != "growth" or is_much_in_a_cache(suspect):
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


_ADVICE = {
    "threads": "end each thread (a sentinel in its queue, an `Event`, `executor.shutdown()`), or start it once",
    "children": "start the pool, manager or loader once, or `close()`, `terminate()` or `shutdown()` it each time",
    "files": "close each file (`with`), and `clone()` tensors that worker processes sent before keeping them",
    "shared": "`close()` and `unlink()` each segment, and `clone()` tensors that worker processes sent before keeping "
    "them",
}
_NOUN = {"threads": "threads", "children": "child processes", "files": "open files", "shared": "shared-memory files"}
_ENDING = {
    "threads": "started and do not end",
    "children": "started and do not end",
    "files": "opened and not closed",
    "shared": "mapped and not let go",
}


def _pile_up(suspect: Suspect) -> Finding:
    """Threads, processes, files or segments of which there are ever more."""
    counted = str(suspect.facts["counted"])
    of = f" of `{suspect.facts['thread']}`" if "thread" in suspect.facts else ""
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{suspect.facts['last_count']} {_NOUN[counted]}{of} at step {suspect.last_step}, "
        f"{suspect.facts['first_count']} at step {suspect.first_step}: they are {_ENDING[counted]}.",
        remedies=(_ADVICE[counted],),
        at_most="likely" if suspect.holder.sites and not suspect.ambiguous else "possible",
    )


def _pinned(suspect: Suspect) -> Finding:
    """Pinned memory: blocks in use that pile up, or a new block for each new size."""
    in_use = suspect.facts["pinned_in_use"]
    why = {
        True: "its blocks are in use",
        False: "its blocks are free, and new sizes come: none is given back",
        None: "its blocks are in use, or free while new sizes come (before torch 2.13 nothing tells which)",
    }[None if in_use is None else bool(in_use)]
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"Pinned memory of the host grows by {growth(suspect)} from step {suspect.first_step} to "
        f"{suspect.last_step}: {why}.",
        remedies=(
            *([_CLONE] if in_use is None or in_use else []),
            *([_FIXED_SIZES] if not in_use else []),
        ),
        at_most="likely" if suspect.holder.sites and not suspect.ambiguous else "possible",
    )


RULE = Rule(
    code="TN601",
    name="host-memory-grows",
    summary="Bytes, NumPy arrays, text or records without tensors pile up in the host's memory.",
    check_suspect=check_suspect,
    priority=5,
)
