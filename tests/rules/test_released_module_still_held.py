from dataclasses import replace

from suspects import MIB, carried, carried_finding, path_row, roles_row, series_row
from tenure.rules.released_module_still_held import check_suspect

REMEDY = "drop every reference listed under `to free`; detach what is cached from its outputs"
IDENTITY = {"rule": "TN401", "name": "released-module-still-held", "symptom": "survivor"}
MEASURED = (path_row(), series_row(3 * MIB, 3 * MIB, 3 * MIB, moment="forward-entry"), roles_row())


def test_a_survivor_is_named_by_what_was_released() -> None:
    assert check_suspect(carried(symptom="survivor", facts={"released": "text_encoder"})) == carried_finding(
        REMEDY,
        message="`text_encoder` was released, but `history[*]` still holds 3.00 MiB of it.",
        evidence=(*MEASURED, {"kind": "facts", "released": "text_encoder"}),
        **IDENTITY,
    )


def test_a_survivor_whose_name_is_not_known_is_called_a_module() -> None:
    assert check_suspect(carried(symptom="survivor")) == carried_finding(
        REMEDY, message="A module was released, but `history[*]` still holds 3.00 MiB of it.", **IDENTITY
    )


def test_weights_without_their_module_are_certain_only_where_the_profiled_steps_touched_none_of_them() -> None:
    weights = carried(symptom="survivor", facts={"released": "vocoder", "weights_only": True})
    resting = replace(weights, peak_bytes=9 * MIB, peak_drop_bytes=3 * MIB, peak_basis="no operation used it")

    found = [check_suspect(each) for each in (weights, resting)]

    assert [each.confidence for each in found if each] == ["likely", "certain"]


def test_what_lost_its_name_and_is_not_called_any_more_may_be_called_again() -> None:
    resting = carried(symptom="survivor", facts={"released": "teacher", "last_called_step": 9, "doubt": ""})
    doubtful = replace(resting, facts=resting.facts | {"doubt": "it was in use until late"})

    found = [check_suspect(each) for each in (resting, doubtful)]

    assert [each.confidence for each in found if each] == ["likely", "possible"]


def test_of_what_a_function_closes_over_the_way_to_the_function_is_told_too() -> None:
    survivor = carried(symptom="survivor", facts={"released": "vae"})

    found = check_suspect(replace(survivor, holder=replace(survivor.holder, kind="closure", name="vae")))

    assert found is not None
    assert [each.summary for each in found.remedies] == [
        f"let go of the function that closes over `vae`: {survivor.path_text[0]} leads to it",
        REMEDY,
    ]


def test_what_is_only_carried_is_none() -> None:
    assert check_suspect(carried(bytes_by_role={"PARAMETER": 3 * MIB})) is None
