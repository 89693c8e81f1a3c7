from __future__ import annotations

import pytest

from profiles import MIB, profile
from streams import stream
from tenure.model.profile import Phase
from tenure.model.stream import Owner, StepStream
from tenure.planning.changes import OPTIONS
from tenure.planning.signs import already, sign_of

PHASES = (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER) * 2


def made(in_optimizer: str = "aten._foreach_add_.List", *, kept: int = 0, gradient_birth: int = 4) -> StepStream:
    storages = ((1, 4, -1, 5, -1), (2, 4, gradient_birth, 5, -1), (3, 8, 3, 4, 5))
    return stream(
        profile(*storages, phases=PHASES),
        (Owner.PARAMETER, Owner.GRADIENT, Owner.NONE),
        kept_at=(-1, -1, 4 if kept else -1),
        on_device=(1, 1, 0),
        graph_reads=(1, 4),
        operations=("aten.mm.default", "aten.mm.default", in_optimizer) * 2,
    )


@pytest.mark.parametrize("option", OPTIONS)
def test_a_run_like_the_first_shows_no_sign_of_an_option(option: str) -> None:
    assert sign_of(option, made(), made()) is None


def test_signs_are_told_with_their_number() -> None:
    assert (
        sign_of("no-foreach", made(), made("aten.add_.Tensor"))
        == "2 foreach operations of the optimizer's steps became 0"
    )
    assert sign_of("fused", made(), made("aten._fused_adamw_.default")) == (
        "2 fused operations in the optimizer's steps"
    )
    assert sign_of("save-on-cpu", made(), made(kept=1)) == (
        f"{8 * MIB / MIB:.2f} MiB of saved tensors were on the host as backward began"
    )
    assert sign_of("set-to-none", made(gradient_birth=1), made()) == (
        "4.00 MiB of gradients alive in forward became 0 B"
    )


def test_what_a_program_does_by_itself_is_not_tried() -> None:
    assert already("no-foreach", made("aten.add_.Tensor")) == "the optimizer steps tensor by tensor already, or fused"
    assert already("fused", made("aten._fused_adamw_.default")) == "the optimizer is fused already"
    assert already("save-on-cpu", made(kept=1)) == "saved tensors go to the host already"
    assert already("set-to-none", made()) == "no gradient is kept between steps already"
    assert [already(option, made(gradient_birth=1)) for option in OPTIONS] == [None] * len(OPTIONS)
