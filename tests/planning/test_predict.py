from __future__ import annotations

import pytest

from profiles import MIB, profile
from streams import stream
from tenure.errors import UsageError
from tenure.model.plan import Fit, IdleAtPeak, Moment, Part, Use
from tenure.model.profile import Phase
from tenure.model.stream import Owner, StepStream
from tenure.planning.predict import predict

FORWARD, BACKWARD, OPTIMIZER = Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER
PHASES = (
    Phase.OTHER,
    FORWARD,
    BACKWARD,
    OPTIMIZER,
    Phase.OTHER,
    Phase.OTHER,
    FORWARD,
    BACKWARD,
    OPTIMIZER,
    Phase.OTHER,
)
# address, MiB, birth, last use, death
STORAGES = (
    (1, 4, -1, 8, -1),  # a weight
    (2, 8, -1, 8, -1),  # its state
    (3, 2, 5, 7, 9),  # the batch
    (4, 32, 6, 7, 7),  # what a layer saved
    (5, 4, 7, 8, 9),  # the gradient
    (6, 1, 6, 6, 8),  # a loss that a variable holds
    (7, 64, -1, 5, -1),  # the data set
)


def made(on_device: tuple[int, ...] = (1, 1, 1, 1, 1, 1, 0), **options: object) -> StepStream:
    return stream(
        profile(*STORAGES, phases=PHASES),
        (Owner.PARAMETER, Owner.OPTIMIZER_STATE, Owner.NONE, Owner.NONE, Owner.GRADIENT, Owner.NONE, Owner.NONE),
        modules=("layer", "layer", "", "layer", "layer", "", ""),
        kept_at=(7, -1, 7, 7, -1, -1, -1),
        graph_reads=(2, 7),
        on_device=on_device,
        **options,  # type: ignore[arg-type]
    )


def test_the_peak_is_told_with_its_moment_uses_modules_and_what_is_idle() -> None:
    plan = predict(made())

    assert (plan.peak_active_bytes, plan.peak_reserved_bytes) == (51 * MIB, 54 * MIB)
    assert plan.moment == Moment(6, Part.BACKWARD, "aten.mm.default", "", "/p/train.py", 12, "step")
    assert plan.by_use == {
        Use.ACTIVATION: 32 * MIB, Use.OPTIMIZER_STATE: 8 * MIB, Use.PARAMETER: 4 * MIB, Use.GRADIENT: 4 * MIB,
        Use.INPUT: 2 * MIB, Use.OUTPUT: MIB,
    }  # fmt: skip
    assert plan.by_module == {"layer": 48 * MIB, "(the model itself)": 3 * MIB}
    assert plan.idle == (IdleAtPeak(Use.OUTPUT, MIB, 1, "/p/train.py", 11, "step"),)
    assert plan.saved_bytes == 34 * MIB
    assert plan.host_bytes == 64 * MIB


def test_each_part_of_the_steps_has_its_peak() -> None:
    peaks = {part: size // MIB for part, size in predict(made()).peaks.items()}

    assert peaks == {Part.BETWEEN: 18, Part.FORWARD: 47, Part.BACKWARD: 51, Part.OPTIMIZER: 19}


def test_what_is_reserved_and_the_workspaces_have_to_fit() -> None:
    beside = 66 * MIB  # of two threads that multiply, on the largest devices

    assert predict(made(), device_bytes=200 * MIB).fit == Fit(200 * MIB, True, 200 * MIB - beside - 54 * MIB, 0)
    assert predict(made(), device_bytes=100 * MIB).fit == Fit(100 * MIB, False, 100 * MIB - beside - 54 * MIB, 1)
    assert predict(made(), device_bytes=10 * MIB).fit == Fit(10 * MIB, False, 10 * MIB - beside - 54 * MIB, 0)


def test_a_program_without_anything_on_a_device_is_told_in_one_line() -> None:
    with pytest.raises(UsageError, match="no module with parameters was seen"):
        predict(made(on_device=(0,) * 7))


def test_unknown_settings_of_the_allocator_are_refused() -> None:
    with pytest.raises(UsageError, match="torch knows no `no_such`"):
        predict(made(), settings="no_such:1")


def test_steps_that_differ_are_told_with_both_peaks() -> None:
    names = ("aten.mm.default",) * 9 + ("aten.relu.default",)

    assert predict(made(operations=names)).notes == (
        "the two steps ran different operations, with peaks of 12.00 MiB and 51.00 MiB: what other steps need may "
        "differ as well",
    )


def test_the_largest_modules_are_divided_as_long_as_the_lines_stay_few() -> None:
    names = [f"layers.{number}.{part}" for number in range(3) for part in ("attention", "linear")] + ["head"]
    few = stream(
        profile(*((number, number + 1, -1, 5, -1) for number in range(7)), phases=PHASES),
        [Owner.PARAMETER] * 7,
        modules=names,
    )

    assert {name: size // MIB for name, size in predict(few).by_module.items()} == {
        "head": 7, "layers.2.linear": 6, "layers.2.attention": 5, "layers.1.linear": 4, "layers.1.attention": 3,
        "layers.0.linear": 2, "layers.0.attention": 1,
    }  # fmt: skip


def test_many_layers_stay_together() -> None:
    many = stream(
        profile(*((number, 1, -1, 5, -1) for number in range(20)), phases=PHASES),
        [Owner.PARAMETER] * 20,
        modules=[f"layers.{number}.linear" for number in range(18)] + ["head", "embedding"],
    )

    assert predict(many).by_module == {"layers": 18 * MIB, "embedding": MIB, "head": MIB}
