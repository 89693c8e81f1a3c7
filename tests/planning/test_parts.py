from __future__ import annotations

from profiles import profile
from streams import stream
from tenure.model.plan import Part
from tenure.model.profile import Phase
from tenure.planning.parts import parts_of

OTHER, FORWARD, BACKWARD, OPTIMIZER = Phase.OTHER, Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER


def parts(*phases: Phase, names: tuple[str, ...] | None = None) -> list[Part]:
    made = profile(operations=len(phases), second=len(phases), phases=phases)
    return parts_of(stream(made, operations=names).profile)


def test_what_a_loss_makes_is_forward_and_what_loads_a_batch_lies_between() -> None:
    found = parts(OTHER, FORWARD, OTHER, BACKWARD, OTHER, OPTIMIZER, OTHER, FORWARD)

    assert found == [
        Part.BETWEEN, Part.FORWARD, Part.FORWARD, Part.BACKWARD,
        Part.BETWEEN, Part.OPTIMIZER, Part.BETWEEN, Part.FORWARD,
    ]  # fmt: skip


def test_what_lies_between_two_calls_of_modules_is_forward_where_a_program_trains() -> None:
    assert parts(FORWARD, OTHER, FORWARD, BACKWARD)[1] is Part.FORWARD
    assert parts(FORWARD, BACKWARD, OTHER, FORWARD, BACKWARD)[2] is Part.BETWEEN
    assert parts(FORWARD, OTHER, FORWARD, OTHER)[1] is Part.BETWEEN


def test_a_model_without_modules_runs_forward_before_backward() -> None:
    assert parts(OTHER, OTHER, BACKWARD, OPTIMIZER) == [Part.FORWARD, Part.FORWARD, Part.BACKWARD, Part.OPTIMIZER]


def test_marks_of_the_profiler_around_zero_grad_do_not_end_forward() -> None:
    names = ("aten.addmm.default", "aten.nll_loss", "profiler._record_function_enter_new.default", "aten.ones_like",
             "aten.mm")  # fmt: skip

    found = parts(FORWARD, OTHER, OPTIMIZER, OTHER, BACKWARD, names=names)

    assert found == [Part.FORWARD, Part.FORWARD, Part.FORWARD, Part.FORWARD, Part.BACKWARD]


def test_a_mark_behind_backward_has_its_memory_and_one_behind_the_optimizer_lies_between() -> None:
    names = ("aten.mm", "aten.mm", "profiler._record_function_enter_new.default", "aten.add",
             "profiler._record_function_enter_new.default", "aten.mm", "aten.mm")  # fmt: skip

    found = parts(FORWARD, BACKWARD, OTHER, OPTIMIZER, OTHER, FORWARD, BACKWARD, names=names)

    assert found == [
        Part.FORWARD, Part.BACKWARD, Part.BACKWARD, Part.OPTIMIZER, Part.BETWEEN, Part.FORWARD, Part.BACKWARD,
    ]  # fmt: skip
