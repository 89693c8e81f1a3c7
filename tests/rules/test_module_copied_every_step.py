from dataclasses import replace

from suspects import HISTORY, TRAIN, carried, finding, suspect
from tenure.model.finding import CutReference
from tenure.model.source import SourceLocation
from tenure.rules.module_copied_every_step import check_suspect

REMEDY = "keep the last or best copy only, on the CPU, and overwrite it; keep numbers instead of objects"
IDENTITY = {"rule": "TN402", "name": "module-copied-every-step"}
COPIES = {"copies_of": "metrics.ConfusionMatrix"}


def test_growth_made_of_objects_of_one_class_is_a_pile_of_copies() -> None:
    assert check_suspect(suspect(**COPIES)) == finding(
        REMEDY, message="`history[*]` collects copies of ConfusionMatrix: 1.00 MiB per step.", **IDENTITY
    )


def test_several_holders_collect_together() -> None:
    best = replace(HISTORY, name="best", sites=(SourceLocation(TRAIN, 30, "fit"),))

    assert check_suspect(suspect(cut=(HISTORY, best), **COPIES)) == finding(
        REMEDY,
        message="`history` and `best` collect copies of ConfusionMatrix: 1.00 MiB per step.",
        cut=(CutReference("history", TRAIN, 24), CutReference("best", TRAIN, 30)),
        **IDENTITY,
    )


def test_one_copy_that_stays_and_growth_of_plain_tensors_are_none() -> None:
    assert [check_suspect(other) for other in (carried(**COPIES), suspect())] == [None, None]


def test_objects_that_keep_graphs_are_no_copies() -> None:
    assert check_suspect(suspect(copies_of="evaluate.ValResult", through_graph=True)) is None
