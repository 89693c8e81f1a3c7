from __future__ import annotations

from pathlib import Path

import pytest

from tenure.errors import RecordingError
from tenure.model.trial import Blocks, Survey
from tenure.store.survey_file import read_survey, write_survey

SURVEY = Survey((Blocks("layers", "Layer", 2),), ("AdamW",), {"fused": "no kernel"})


def test_a_survey_is_read_as_it_was_written_and_the_first_stays(tmp_path: Path) -> None:
    assert read_survey(tmp_path) is None

    write_survey(tmp_path, SURVEY)
    write_survey(tmp_path, Survey((), (), {}))

    assert read_survey(tmp_path) == SURVEY


@pytest.mark.parametrize("text", ["", "{}", '{"blocks": [1], "optimizers": [], "refused": {}}', "[]"])
def test_a_broken_survey_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "survey.json").write_text(text)

    with pytest.raises(RecordingError, match="no survey of a program"):
        read_survey(tmp_path)
