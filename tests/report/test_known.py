from __future__ import annotations

from tenure.model.known import Known, KnownOptimizer
from tenure.report.known import BASIS, known_as_dict, render_known

MIB = 1 << 20
KNOWN = Known(
    80 * MIB,
    60 * MIB,
    MIB,
    (
        KnownOptimizer("AdamW", 120 * MIB, was_there=True),
        KnownOptimizer("SGD", 0, was_there=False),
        KnownOptimizer("Own", None, was_there=False),
    ),
    5 * MIB,
)


def test_what_is_known_is_told_with_its_basis() -> None:
    assert render_known(KNOWN, width=300).splitlines() == [
        "parameters    80.00 MiB, buffers 1.00 MiB",
        "gradients     60.00 MiB: as much as the parameters that train",
        "state         120.00 MiB of AdamW, as it was",
        "              0 B of SGD, by what its class keeps for each parameter, not made yet",
        "              Own: not known before its first step",
        "saved         5.00 MiB kept by graphs that were there at the end, by the last forward",
        f"basis         {BASIS}",
    ]


def test_state_that_is_not_known_is_in_no_sum() -> None:
    told = known_as_dict(KNOWN, "why", 3)

    assert (told["error"], told["steps"], told["known"]["state_bytes"]) == ("why", 3, None)
    assert known_as_dict(None, "why", 0) == {"format": 1, "error": "why", "steps": 0, "known": None}
