from __future__ import annotations

import pytest

from edit_texts import source_of
from tenure.syntax.edits.line_edits import apply_edits
from tenure.syntax.edits.read_results import reset_behind_result

EPOCH = """\
def validate(self, loader):
    for x, y in loader:
        self.auroc.update(self.model(x), y)
    {reads}
    return score
"""


@pytest.mark.parametrize(
    ("reads", "emptied"),
    [
        ("score = self.auroc.compute()", "    self.auroc.reset()"),
        ("score = {'auroc': self.auroc.compute().item()}", "    self.auroc.reset()"),
        ("score = float(\n        auroc.result()\n    )", "    auroc.reset()"),
    ],
)
def test_it_is_emptied_behind_the_statement_that_reads_its_result(reads: str, emptied: str) -> None:
    source = source_of(EPOCH.format(reads=reads))

    edited = apply_edits(source.text, reset_behind_result([source], "trainer.auroc.reset"))

    assert edited == EPOCH.format(reads=f"{reads}\n{emptied}")


@pytest.mark.parametrize(
    "reads",
    [
        "return self.auroc.compute()",
        "score = self.auroc.compute(); print(score); other = self.auroc.compute()",
        "pass; score = self.auroc.compute()",
        "score = self.other.compute()",
        "score = self.auroc['val'].compute()",
        "score = self.auroc.preds",
    ],
)
def test_where_its_result_is_returned_or_read_by_several_or_by_none_there_is_no_edit(reads: str) -> None:
    source = source_of(EPOCH.format(reads=reads))

    assert reset_behind_result([source], "trainer.auroc.reset") == ()


def test_results_of_several_files_are_several() -> None:
    source = source_of(EPOCH.format(reads="score = self.auroc.compute()"))

    assert reset_behind_result([source, source], "auroc.reset") == ()
