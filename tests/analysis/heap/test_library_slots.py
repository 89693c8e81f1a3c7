# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects

STEPS = (1, 2, 3, 4, 6, 8, 12)


def facts_of(slot: str, *, step_of_slot: int = 0) -> list[object]:
    """What stands in a library's module, of audits that each keep the former one's method in `before` and a session's
    memory; the newest is a variable of a running function."""

    def drawn(step: int) -> str:
        newest = step - 1 - step_of_slot
        lines = [f"fit(t.py:9).audit -> __main__.Audit#a{step - 1}", slot.replace("@", str(max(0, newest)))]
        for at in range(step):
            lines.append(
                f"island -> __main__.Audit#a{at} -> .session __main__.Session#s{at} -> .seen tensor#t{at} 1MiB"
            )
            if at:
                lines.append(
                    f"island -> __main__.Audit#a{at} -> .before method#m{at - 1} -> <self> __main__.Audit#a{at - 1}"
                )
        return "\n".join(lines)

    suspects = find_suspects([census(drawn(step), step=step) for step in STEPS])
    return [suspect.facts.get("stands_in") for suspect in suspects if suspect.symptom == "growth"]


@pytest.mark.parametrize(
    ("slot", "expected"),
    [
        pytest.param("lib:warnings.showwarning -> method#m@ -> <self> __main__.Audit#a@", "warnings.showwarning", id="a library's"),
        pytest.param("main.report -> method#m@ -> <self> __main__.Audit#a@", None, id="the program's own"),
        pytest.param("lib:warnings.filters -> list -> [0] __main__.Audit#a@", None, id="no function"),
    ],
)  # fmt: skip
def test_a_chain_of_former_functions_is_told_with_the_librarys_name_that_leads_to_it(slot: str, expected: str) -> None:
    assert facts_of(slot) == [expected]


def test_a_slot_that_leads_to_little_of_it_is_none() -> None:
    slot = "lib:warnings.showwarning -> method#m@ -> <self> __main__.Audit#a@"

    assert facts_of(slot, step_of_slot=8) == [None]
