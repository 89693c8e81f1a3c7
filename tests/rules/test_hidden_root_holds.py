from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS
from tenure.rules.hidden_root_holds import check_suspect


@pytest.mark.parametrize("root", ["`sys.excepthook`", "`threading.excepthook`", "`sys.unraisablehook`"])
def test_a_hook_of_the_interpreter_is_a_root_that_no_variable_shows(root: str) -> None:
    collected = SPECIMENS["TN202"]

    found = check_suspect(replace(collected, path_text=(root, *collected.path_text[1:])))

    assert found is not None
    assert found.message == f"The {root} holds `history[*]`: 1.00 MiB per step."


@pytest.mark.parametrize("root", ["`logging.root`", "`sys.last_exc`", "global `excepthook` in train (train.py)"])
def test_other_globals_are_left_to_other_rules(root: str) -> None:
    collected = SPECIMENS["TN202"]

    assert check_suspect(replace(collected, path_text=(root, *collected.path_text[1:]))) is None
