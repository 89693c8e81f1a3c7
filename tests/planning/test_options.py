from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from planning.test_signs import made
from tenure.errors import UsageError
from tenure.model.plan import Fit, Part, Plan
from tenure.model.stream import StepStream
from tenure.model.trial import Blocks, Survey
from tenure.planning.changes import OPTIONS
from tenure.planning.options import Trials, best_together, micro_batch_of, try_options
from tenure.planning.predict import predict

SHARDS = dict.fromkeys(("fully-shard-2", "fully-shard-4"), "has groups")
REFUSED = {
    "checkpointing": "nothing repeats",
    "8-bit-state": "torchao is not installed: not run",
    "in-place": "no layer",
    **SHARDS,
}
SURVEY = Survey((), ("AdamW",), REFUSED)


def trials(**streams: StepStream | str) -> Trials:
    """Under options that are not named the program runs as it is."""
    before = made()

    def watch(options: Sequence[str], arguments: Sequence[str]) -> StepStream:
        found = streams.get("_".join(options).replace("-", "_"), before)
        if isinstance(found, str):
            raise UsageError(found)
        return found

    return Trials(watch, predict, before, predict(before), SURVEY, "no --batch-arg")


def test_rows_are_those_that_ran_then_those_together_then_those_without_figures() -> None:
    told: list[str] = []
    found = try_options(
        trials(
            no_foreach=made("aten.add_.Tensor"),
            save_on_cpu=made(kept=1),
            no_foreach_save_on_cpu=made("aten.add_.Tensor", kept=1),
            fused="train.py ended with exit code 1",
        ),
        OPTIONS,
        told.append,
    )

    assert told == [
        "no-foreach",
        "fused",
        "save-on-cpu",
        "autocast-bf16",
        "autocast-fp16",
        "fully-shard-8",
        "data-parallel-2",
        "no-foreach + save-on-cpu",
    ]
    assert [(each.options, each.why_not) for each in found] == [
        (("no-foreach",), None),
        (("save-on-cpu",), None),
        (("no-foreach", "save-on-cpu"), None),
        (("fused",), "train.py ended with exit code 1"),
        (("autocast-bf16",), "autocast-bf16 changed nothing that was seen"),
        (("autocast-fp16",), "autocast-fp16 changed nothing that was seen"),
        (("fully-shard-8",), "fully-shard-8 changed nothing that was seen"),
        (("data-parallel-2",), "data-parallel-2 changed nothing that was seen"),
        (("set-to-none",), "no gradient is kept between steps already"),
        (("in-place",), "no layer"),
        (("accumulation",), "no --batch-arg"),
        (("checkpointing",), "nothing repeats"),
        (("8-bit-state",), "torchao is not installed: not run"),
        (("fully-shard-2",), "has groups"),
        (("fully-shard-4",), "has groups"),
        (("distributed-2",), "no --batch-arg"),
        (
            ("offloaded-state",),
            "torchao's `CPUOffloadOptimizer` runs on CUDA alone: not run",
        ),
    ]


def test_of_options_that_are_named_only_these_are_run_and_put_together() -> None:
    told: list[str] = []
    found = try_options(
        trials(no_foreach=made("aten.add_.Tensor"), save_on_cpu=made(kept=1)),
        ("no-foreach", "accumulation"),
        told.append,
    )

    assert told == ["no-foreach"]
    assert [(each.options, each.why_not) for each in found] == [
        (("no-foreach",), None),
        (("accumulation",), "no --batch-arg"),
    ]


def test_compute_is_the_operations_counted_against_those_of_the_program_as_it_is() -> None:
    before = replace(made(), flops=made().flops + 10)
    more = replace(made("aten.add_.Tensor"), flops=made().flops + 13)
    asked = Trials(lambda *_: more, predict, before, predict(before), SURVEY, "")

    row = asked.run(("no-foreach",)).row
    assert (row.compute, row.num_operations, row.change) == (1.3, 6, ("AdamW(..., foreach=False)",))
    assert trials(no_foreach=made("aten.add_.Tensor")).run(("no-foreach",)).row.compute is None


def plan_with(forward: int, backward: int, step: int) -> Plan:
    peaks = {Part.FORWARD: forward, Part.BACKWARD: backward, Part.OPTIMIZER: step}
    return replace(predict(made()), peaks=peaks)


def test_the_best_together_lower_the_parts_that_are_highest_then() -> None:
    tried = {
        "no-foreach": plan_with(50, 90, 40),
        "fused": plan_with(50, 90, 40),
        "checkpointing": plan_with(20, 30, 80),
        "autocast-bf16": plan_with(30, 50, 80),
    }

    assert best_together(plan_with(50, 90, 80), tried) == [
        ("no-foreach", "checkpointing"),
        ("no-foreach", "checkpointing", "autocast-bf16"),
    ]
    assert best_together(plan_with(50, 90, 80), {"fused": tried["fused"]}) == []


@pytest.mark.parametrize(
    ("arguments", "option", "found"),
    [
        (["--batch", "8"], "--batch", ("--batch", "4")),
        (["--batch=8", "--lr", "1"], "--batch", ("--batch", "4")),
        (["--batch", "7"], "--batch", "batches of 7 cannot be divided by 2"),
        (["--lr", "1"], "--batch", "the batch size is not known: give --batch N among the program's arguments"),
        (
            ["--batch", "8"],
            None,
            "smaller batches need the program's option for its batch size: add --batch-arg OPTION",
        ),
    ],
)
def test_smaller_batches_follow_from_the_arguments(
    arguments: list[str], option: str | None, found: tuple[str, ...] | str
) -> None:
    assert micro_batch_of(arguments, option) == found


def test_where_only_checkpoints_fit_the_fewest_blocks_are_looked_for_by_runs() -> None:
    before, told = made(), list[str]()
    again = replace(before, modules=np.zeros_like(before.modules))
    needed = {"checkpointing": again, "checkpointing:5": replace(again), "checkpointing:6": replace(again)}

    def predicted(stream: StepStream, **_: object) -> Plan:
        return replace(predict(stream), fit=Fit(8, any(stream is each for each in needed.values()), -1, 3))

    def watch(options: Sequence[str], arguments: Sequence[str]) -> StepStream:
        return needed.get(options[0], replace(again) if options[0].startswith("checkpointing") else before)

    survey = Survey((Blocks("layers", "Layer", 9),), ("AdamW",), SHARDS | {"fully-shard-8": "has groups"})
    found = try_options(Trials(watch, predicted, before, predicted(before), survey, ""), OPTIONS, told.append)

    assert [each for each in told if each.startswith("checkpointing")] == [
        "checkpointing", "checkpointing:4", "checkpointing:6", "checkpointing:5",
    ]  # fmt: skip
    retries = ("cached segments would go back 3 times, and steps be slower",)
    assert [(each.options, each.fits, each.change[2], each.notes) for each in found if each.why_not is None] == [
        (("checkpointing",), True, "for block in model.layers:", retries),
        (("checkpointing:5",), True, "for block in model.layers[:5]:", retries),
    ]
