from __future__ import annotations

from dataclasses import replace

from profiles import MIB, profile
from resting import INCOMING, KEPT, MODEL, RESULT, TOUCHED, seen
from tenure.analysis.evidence import Evidence
from tenure.analysis.process_suspects import find_resting
from tenure.diagnose import _explain_process
from tenure.model.recording import Recording


def evidence() -> Evidence:
    """Two profiles: the first, of steps in which the program generates, with all in use; the second of a training."""
    recording = Recording("/p/run", {}, (), (), (), {}, None)
    rests = (MODEL, (INCOMING, KEPT))
    used = replace(profile((KEPT, 3, -1, 7, -1), (300, 2, -1, 9, -1)), step=3)
    censuses = (
        seen(MODEL, step=1),
        seen(*rests, step=3, moment="peak"),
        seen(*rests, step=4),
        seen(*rests, RESULT, step=6, moment="peak"),
        seen(*rests, step=8),
    )
    return Evidence(recording, censuses, {}, profiles=(used, TOUCHED))


def test_what_rests_in_the_last_profiled_steps_is_looked_for_beside_what_is_told() -> None:
    (rests,) = find_resting(evidence(), ())

    assert (rests.holder.name, rests.series.steps, rests.peak_bytes) == ("incoming", (1, 4, 8), 13 * MIB)
    assert find_resting(evidence(), (rests,)) == ()
    assert find_resting(replace(evidence(), profiles=()), ()) == ()


def test_the_verdict_on_a_process_tells_what_rests_as_a_hint() -> None:
    told = _explain_process(evidence(), ())

    assert [(each.rule, each.confidence, each.holder.name, each.peak_drop_bytes) for each in told] == [
        ("TN106", "likely", "logits", 3 * MIB),
        ("TN106", "possible", "incoming", 3 * MIB),
    ]
