"""Words for what lies beside a model whose state is loaded or saved, where that is the highest memory of the run."""

from __future__ import annotations

from tenure.model.finding import Confidence
from tenure.model.suspect import BESIDE_STATE, GIVEN, UNREAD, Suspect
from tenure.rules.claim import plural, subject

NOTABLE_SHARE = 0.10
"""Of the peak."""


def message(suspect: Suspect) -> str:
    """What stands beside the model, and that the run needs no more elsewhere."""
    what = subject(suspect) if suspect.cut else f"What {subject(suspect)} is given"
    if suspect.facts[BESIDE_STATE] == "saving":
        return f"{what}, made to be saved, {_lies(suspect)} beside the model: {_HIGHEST}."
    if GIVEN in suspect.facts:
        return f"{what} {_lies(suspect)} beside the model that loads it: {_HIGHEST}."
    return f"{subject(suspect)} {plural(suspect, 'holds', 'hold')} more than what is loaded then: {_HIGHEST}."


_HIGHEST = "no step of the run needs as much memory"


def _lies(suspect: Suspect) -> str:
    return plural(suspect, "lies", "lie")


def remedy(suspect: Suspect) -> str:
    """How to get by with less at that moment."""
    if suspect.facts[BESIDE_STATE] == "saving":
        return "save the tensors themselves, for `torch.save` reads them where they are, or copy to the host one by one"
    if suspect.device not in ("", "cpu"):
        return (
            '`torch.load(..., map_location="cpu")`, so that the device is given one tensor after the other; or load '
            "only what is used"
        )
    if GIVEN in suspect.facts:
        return (
            "`torch.load(..., mmap=True)`, so that weights are read from the file where they are used, or a model made "
            "on the meta device and `load_state_dict(..., assign=True)`"
        )
    return (
        "`torch.load(..., mmap=True)`, so that what is not used is not read from the file; or load only what is used, "
        "or `del` the rest before"
    )


def confidence(suspect: Suspect) -> Confidence:
    """What is loaded has to be somewhere: that it lies beside the model is a hint. So is what is used later."""
    of_peak = (suspect.peak_drop_bytes or 0) / (suspect.peak_bytes or 1)
    told = GIVEN not in suspect.facts and UNREAD in suspect.facts and of_peak >= NOTABLE_SHARE
    return "likely" if told and suspect.holder_is_yours and suspect.holder.sites else "possible"
