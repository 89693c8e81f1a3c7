from __future__ import annotations

import pytest

from suspects import suspect
from tenure.model.source import SourceLocation
from tenure.model.suspect import BUILT_ANYWAY, HoldingReference
from tenure.rules.default_built_anyway import check_suspect

TABLES = HoldingReference("item", "tables", "self.tables", sites=(SourceLocation("rope.py", 19, "Rope.of"),))


@pytest.mark.parametrize(("drop", "confidence"), [(2 << 20, "certain"), (1 << 20, "possible")])
def test_a_default_that_is_built_and_dropped_is_sure_where_it_takes_a_tenth_off_the_peak(
    drop: int, confidence: str
) -> None:
    found = check_suspect(
        suspect(
            symptom="peak",
            holder=TABLES,
            cut=(),
            retained_bytes=3 << 20,
            peak_bytes=16 << 20,
            peak_drop_bytes=drop,
            facts={BUILT_ANYWAY: "self.build(n)"},
        )
    )

    assert found is not None
    assert (found.rule, found.confidence, found.holder.file, found.holder.line) == ("TN206", confidence, "rope.py", 19)
    assert found.message == (
        "`self.build(n)` is built in each step though `self.tables` has it already, and dropped unused: 3.00 MiB at "
        "the peak."
    )
    assert [each.summary for each in found.remedies] == ["look first: `if key not in table: table[key] = build()`"]


def test_what_merely_idles_is_no_default() -> None:
    assert check_suspect(suspect(symptom="peak", facts={"idle_at_peak": True})) is None
