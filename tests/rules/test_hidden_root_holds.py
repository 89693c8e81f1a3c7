from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import ON_CTX, SPECIMENS, hop, suspect
from tenure.model.suspect import LITTLE_OF_ALL, Hop, Suspect
from tenure.rules.hidden_root_holds import check_suspect


@pytest.mark.parametrize("root", ["`sys.excepthook`", "`threading.excepthook`", "`sys.unraisablehook`"])
def test_a_hook_of_the_interpreter_is_a_root_that_no_variable_shows(root: str) -> None:
    collected = SPECIMENS["TN202"]

    found = check_suspect(replace(collected, path_text=(root, *collected.path_text[1:])))

    assert found is not None
    assert found.message == f"The {root} holds `history[*]`: 1.00 MiB per step."


def test_what_is_little_of_all_is_a_hint() -> None:
    collected = replace(SPECIMENS["TN202"], path_text=("`sys.excepthook`", *SPECIMENS["TN202"].path_text[1:]))
    little = replace(collected, facts=collected.facts | {LITTLE_OF_ALL: True})

    found = [check_suspect(each) for each in (collected, little)]

    assert [each.confidence for each in found if each is not None] == ["certain", "possible"]


@pytest.mark.parametrize("root", ["`logging.root`", "`sys.last_exc`", "global `excepthook` in train (train.py)"])
def test_other_globals_are_left_to_other_rules(root: str) -> None:
    collected = SPECIMENS["TN202"]

    assert check_suspect(replace(collected, path_text=(root, *collected.path_text[1:]))) is None


PLAIN = replace(ON_CTX, kind="closure", name="plain", expression="plain", owner_type="function")
SLOT = hop(
    "GLOBAL", "_logRecordFactory", "dict", "function", source_kind="NAMESPACE", source_name="logging", user=False
)
CLOSURE = hop("CELL", "plain", "function", "cell", source_name="stamp.<locals>.factory", user=True)
BOUND = replace(SLOT, target_type="method")
TO_OWNER = hop("SELF", "", "method", "__main__.Trainer", user=False)
OWN = hop("ATTRIBUTE", "former", "__main__.Trainer", "function", user=True)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param((SLOT, CLOSURE), id="of a module"),
        pytest.param((replace(SLOT, source_kind="CLASS", kind="ATTRIBUTE"), CLOSURE), id="of a class"),
        pytest.param((BOUND, TO_OWNER, OWN), id="a bound method"),
    ],
)
def test_functions_put_for_a_librarys_own_that_keep_the_ones_before(path: tuple[Hop, ...]) -> None:
    found = check_suspect(suspect(path=path, path_text=("`logging._logRecordFactory`",), holder=PLAIN))

    assert found is not None
    assert found.message == "The `logging._logRecordFactory` holds `plain`: 1.00 MiB per step."
    assert found.remedies[0].summary.startswith("put the former function back")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(suspect(path=(SLOT, CLOSURE)), id="a list that such a function fills"),
        pytest.param(suspect(path=(replace(SLOT, user=True), CLOSURE), holder=PLAIN), id="in the program's own module"),
        pytest.param(suspect(path=(SLOT, replace(CLOSURE, user=False)), holder=PLAIN), id="a function of a library"),
        pytest.param(suspect(path=(replace(SLOT, target_type="dict"), CLOSURE), holder=PLAIN), id="a library's cache"),
        pytest.param(replace(SPECIMENS["TN303"], path=(SLOT, CLOSURE)), id="hooks for all modules"),
    ],
)
def test_what_else_lies_below_a_library_is_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None


def test_a_former_function_that_a_running_function_leads_to_as_well() -> None:
    found = check_suspect(suspect(holder=PLAIN, facts={"stands_in": "warnings.showwarning"}))

    assert found is not None
    assert found.message == "The `warnings.showwarning` holds `plain`: 1.00 MiB per step."


CALLED_BACK = hop("GLOBAL", "callbacks", "dict", "list", source_kind="NAMESPACE", source_name="gc", user=False)
CALLBACK = hop("INDEX", "3", "list", "function", user=True)


def test_functions_in_a_list_that_a_library_calls_through() -> None:
    found = check_suspect(suspect(path=(CALLED_BACK, CALLBACK, CLOSURE), path_text=("`gc.callbacks`", "[3]", "")))

    assert found is not None
    assert found.message == "The functions in `gc.callbacks` hold what they were given: 1.00 MiB per step."
    assert found.remedies[0].summary.startswith("let it go when it has done its work")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param((replace(CALLED_BACK, user=True), CALLBACK), id="of the program's own module"),
        pytest.param((CALLED_BACK, replace(CALLBACK, target_type="torch.Tensor")), id="tensors"),
    ],
)
def test_other_lists_below_a_module_are_collections(path: tuple[Hop, ...]) -> None:
    assert check_suspect(suspect(path=path, path_text=("`gc.callbacks`", "[3]"))) is None


def test_what_a_function_that_only_c_code_keeps_closes_over_and_gains() -> None:
    root = "a callback that only C code keeps (an exit handler or a pack hook, probably): wrap.<locals>.hook"
    closed = suspect(path_text=(root, "closure variable `plain`"), holder=PLAIN)
    found = check_suspect(closed)

    assert found is not None
    assert found.message == "The callback that only C code keeps holds `plain`: 1.00 MiB per step."
    assert check_suspect(replace(closed, holder=SPECIMENS["TN202"].holder)) is None
    assert check_suspect(replace(closed, symptom="survivor")) is None
