from __future__ import annotations

import pytest

from tenure.analysis.heap.cells import cell_kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("<ipython-input-3-4f1cab90d2e7>", "<ipython-input-#-#>"),
        ("/tmp/ipykernel_4711/3844.py", "ipykernel_#/#.py"),
        ("/var/folders/x/T/ipykernel_12/7.py", "ipykernel_#/#.py"),
        ("<stdin>", "<stdin>"),
        ("/home/user/step_1.py", ""),
        ("", ""),
    ],
)
def test_a_cell_goes_by_the_same_name_in_every_run_and_session(path: str, kind: str) -> None:
    assert cell_kind(path) == kind
