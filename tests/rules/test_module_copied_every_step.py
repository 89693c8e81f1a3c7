from dataclasses import replace

import pytest

from suspects import HISTORY, TRAIN, carried, finding, hop, suspect
from tenure.model.finding import CutReference
from tenure.model.source import SourceLocation
from tenure.model.suspect import FILLED, FILLED_OF
from tenure.rules.module_copied_every_step import check_suspect

REMEDY = "keep the last or best copy only, on the CPU, and overwrite it; keep numbers instead of objects"
IDENTITY = {"rule": "TN402", "name": "module-copied-every-step"}
COPIES = {"copies_of": "metrics.ConfusionMatrix"}


def test_growth_made_of_objects_of_one_class_is_a_pile_of_copies() -> None:
    assert check_suspect(suspect(**COPIES)) == finding(
        REMEDY, message="`history[*]` collects copies of ConfusionMatrix: 1.00 MiB per step.", **IDENTITY
    )


def test_dicts_under_the_names_of_parameters_are_a_models_states() -> None:
    assert check_suspect(suspect(copies_of="collections.OrderedDict")) == finding(
        REMEDY, message="`history[*]` collects copies of a model's state: 1.00 MiB per step.", **IDENTITY
    )


def test_several_holders_collect_together() -> None:
    best = replace(HISTORY, name="best", sites=(SourceLocation(TRAIN, 30, "fit"),))

    assert check_suspect(suspect(cut=(HISTORY, best), **COPIES)) == finding(
        REMEDY,
        message="`history` and `best` collect copies of ConfusionMatrix: 1.00 MiB per step.",
        cut=(CutReference("history", TRAIN, 24), CutReference("best", TRAIN, 30)),
        **IDENTITY,
    )


@pytest.mark.parametrize(
    ("kind", "library", "parts"), [("ModuleDict", True, True), ("ModuleDict", False, False), ("Net", True, False)]
)
def test_parts_that_a_librarys_call_adds_to_a_model_are_no_copies(kind: str, library: bool, parts: bool) -> None:
    """`model.add_adapter(name)` once per task; a list of the program's own models holds copies, mostly."""
    added = replace(HISTORY, library_sites=(SourceLocation("peft/layer.py", 263, "update_layer"),) if library else ())
    path = (hop("OTHER", "__dict__", f"torch.nn.{kind}", "dict"), hop("ITEM", "'_modules'", "dict", "dict"))

    found = check_suspect(replace(suspect(holder=added, cut=(added,), **COPIES), path=path))

    assert found is not None
    assert ("gains another ConfusionMatrix each time and loses none" in found.message) is parts
    assert ("`delete_adapter` for `add_adapter`" in found.remedies[0].summary) is parts


def test_what_callbacks_that_pile_up_lead_to_is_left_to_another_rule() -> None:
    listener = hop("INDEX", "[3]", "list", "method")

    assert check_suspect(suspect(path=(listener,), **COPIES)) is None


def test_one_copy_that_stays_and_growth_of_plain_tensors_are_none() -> None:
    assert [check_suspect(other) for other in (carried(**COPIES), suspect())] == [None, None]


def test_objects_that_keep_graphs_are_no_copies() -> None:
    assert check_suspect(suspect(copies_of="evaluate.ValResult", through_graph=True)) is None


@pytest.mark.parametrize(
    ("pace", "size", "confidence"),
    [(0.06, 7 << 10, "possible"), (0.06, 256 << 10, "certain"), (1.0, 7 << 10, "certain")],
)
def test_a_few_small_copies_one_per_epoch_may_be_meant(pace: float, size: int, confidence: str) -> None:
    found = check_suspect(replace(suspect(**COPIES), growth_objects_per_step=pace, retained_bytes=size))

    assert found is not None
    assert found.confidence == confidence


@pytest.mark.parametrize(("have", "of", "confidence"), [(15, 20, "possible"), (15, 200, "certain"), (15, 0, "certain")])
def test_an_attribute_that_most_of_the_objects_have_got_is_a_hint(have: int, of: int, confidence: str) -> None:
    """A control variate of each client of a federation."""
    facts = {FILLED: have} | ({FILLED_OF: of} if of else {})
    found = check_suspect(replace(suspect(**COPIES), facts=facts))

    assert found is not None
    assert found.confidence == confidence
