from dataclasses import replace

from suspects import HISTORY, TRAIN, finding, suspect
from tenure.model.finding import CutReference, Holder
from tenure.rules.cycle_waits_for_collector import check_suspect

REMEDY = (
    "break the ring: hold the owner weakly (`weakref.ref`, `weakref.proxy`), pass it as an argument, or set "
    "the reference to None when done; do not copy objects that refer back to their owner"
)
RING = replace(HISTORY, kind="cycle", name="normalise", expression="Rollout.normalise")


def test_memory_that_only_a_ring_holds_waits_for_the_collector() -> None:
    assert check_suspect(suspect(symptom="cycle", cyclic=True, holder=RING)) == finding(
        REMEDY,
        rule="TN301",
        name="cycle-waits-for-collector",
        message="`Rollout.normalise` closes a reference cycle that holds 3.00 MiB no one can use any more; "
        "only the cyclic collector frees it.",
        symptom="cycle",
        holder=Holder("cycle", "normalise", "Rollout.normalise", TRAIN, 24, "fit"),
        cut=(CutReference("normalise", TRAIN, 24),),
    )


def test_memory_that_a_root_reaches_does_not() -> None:
    assert check_suspect(suspect()) is None
