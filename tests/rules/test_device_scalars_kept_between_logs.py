from suspects import carried, finding, suspect
from tenure.rules.device_scalars_kept_between_logs import check_suspect

REMEDY = (
    "add each into one running tensor on the device (`total += loss.detach()`, a counter beside it) and read "
    "it with `.item()` only when logging: constant memory, no synchronisation per step"
)
IDENTITY = {"rule": "TN201", "name": "device-scalars-kept-between-logs"}


def test_one_scalar_more_each_step_is_a_scalar_kept() -> None:
    assert check_suspect(suspect(scalars=True)) == finding(
        REMEDY, message="`history[*]` gains 1 scalar tensor per step.", **IDENTITY
    )


def test_views_of_larger_storages_are_told_as_such() -> None:
    assert check_suspect(suspect(scalars=True, pinned_bytes=4096, growth_objects_per_step=2.0)) == finding(
        REMEDY,
        message="`history[*]` gains 2 scalar tensors per step. "
        "Each is a view of a larger storage, which stays with it.",
        growth_objects_per_step=2.0,
        **IDENTITY,
    )


def test_a_sawtooth_tells_its_period() -> None:
    assert check_suspect(suspect(scalars=True, symptom="sawtooth", period_steps=50)) == finding(
        REMEDY,
        message="`history[*]` gains 1 scalar tensor per step, until it is emptied every 50 steps.",
        symptom="sawtooth",
        **IDENTITY,
    )


def test_scalars_with_a_graph_tensors_of_more_elements_and_steady_scalars_are_none() -> None:
    others = (suspect(scalars=True, through_graph=True), suspect(), carried(scalars=True))

    assert [check_suspect(other) for other in others] == [None, None, None]
