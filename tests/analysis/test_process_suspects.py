from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from heaps import census
from profiles import MIB, profile
from resting import INCOMING, KEPT, MODEL, RESULT, TOUCHED, seen
from suspects import carried
from tenure.analysis.evidence import Evidence
from tenure.analysis.process_suspects import _piled_up_in_evaluations, find_resting
from tenure.diagnose import _explain_process
from tenure.model.heap import Census
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


def shaped(drawn: Census) -> Census:
    """The census, all of whose storages are shown as vectors of 256 numbers."""
    shape = np.full_like(drawn.storages.shape, len(drawn.strings))
    return replace(drawn, strings=(*drawn.strings, "[256]"), storages=replace(drawn.storages, shape=shape))


@pytest.mark.parametrize("bound_as", ["[256]", "[8]", None])
def test_what_no_name_has_while_an_evaluation_goes_on_is_told_by_the_name_that_it_gets(bound_as: str | None) -> None:
    graph = ".grad_fn AddmmBackward0 -> .saved tensor 320KiB activation"
    text = "unseen -> list#out -> [*{call}] tensor 1KiB activation -> " + graph
    calls = (4, 6, 8, 12, 16, 24, 32)
    censuses = tuple(shaped(census(text.format(call=call), step=50, moment=f"evaluation-{call}")) for call in calls)
    recording = Recording("/p/run", {}, (), (), (), {}, None)
    found = Evidence(recording, censuses, {}, profiles=())
    (nameless,) = _piled_up_in_evaluations(found, ())
    assert nameless.facts["kept_shape"] == "[256]"

    told = carried(through_graph=True, facts={"kept_shape": bound_as} if bound_as else {})
    assert (_piled_up_in_evaluations(found, (told,)) == ()) is (bound_as == "[256]")
