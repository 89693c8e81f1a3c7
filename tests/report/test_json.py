from __future__ import annotations

import json
from dataclasses import replace

import pytest

from report.findings import diagnosis, held_graph, kept_loss
from tenure.errors import NewerFormatError, RecordingError
from tenure.model.finding import Forecast
from tenure.report.json import diagnosis_as_dict, diagnosis_as_json, diagnosis_from_json


def test_the_keys_are_the_documented_ones_in_their_order() -> None:
    values = diagnosis_as_dict(diagnosis(held_graph()))
    (finding,) = values["findings"]
    assert list(values) == [
        "format", "recording", "steps", "findings", "unexplained_growth_bytes_per_step", "not_seen", "censuses",
        "suppressed",
    ]  # fmt: skip
    assert list(finding) == [
        "rule", "name", "symptom", "confidence", "origin", "message", "holder", "path", "cut", "retained_bytes",
        "growth_bytes_per_step", "growth_bytes_per_step_interval", "growth_objects_per_step",
        "growth_objects_per_step_interval", "forecast", "num_objects", "device", "peak_bytes",
        "peak_drop_bytes", "peak_basis",
        "first_step", "last_step", "allocation", "remedies", "evidence", "fingerprint",
    ]  # fmt: skip
    assert list(finding["holder"]) == ["kind", "name", "expression", "file", "line", "function"]
    assert finding["cut"][1] == {"name": "loss", "file": None, "line": None}
    assert finding["remedies"] == [
        {
            "summary": "retval = None after unpacking",
            "edits": [{"file": "trainer.py", "line": 616, "before": "", "after": "        retval = None"}],
            "verified": None,
        }
    ]


def test_what_was_written_reads_back_equal() -> None:
    written = diagnosis(held_graph(), kept_loss(), not_seen=("nothing of rank 1",))
    assert diagnosis_from_json(diagnosis_as_json(written), source="findings.json") == written


def test_intervals_and_a_forecast_are_written_and_read_back() -> None:
    forecast = Forecast("device", 8 << 30, 1900.0, (1700.0, 2200.0), 1560.0, (1400.0, 1800.0))
    seen = diagnosis(
        kept_loss(
            growth_bytes_per_step_interval=(8e6, 9e6),
            growth_objects_per_step=1.0,
            growth_objects_per_step_interval=(1.0, 1.0),
            forecast=forecast,
        )
    )

    text = diagnosis_as_json(seen)

    assert json.loads(text)["findings"][0]["forecast"] == {
        "limit": "device",
        "room_bytes": 8 << 30,
        "steps": 1900.0,
        "steps_interval": [1700.0, 2200.0],
        "seconds": 1560.0,
        "seconds_interval": [1400.0, 1800.0],
    }
    assert diagnosis_from_json(text, source="x") == seen


def test_findings_of_before_there_were_intervals_are_read() -> None:
    values = diagnosis_as_dict(diagnosis(kept_loss()))
    for key in (
        "growth_bytes_per_step_interval",
        "growth_objects_per_step",
        "growth_objects_per_step_interval",
        "forecast",
    ):
        del values["findings"][0][key]

    assert diagnosis_from_json(json.dumps(values), source="x") == diagnosis(kept_loss())


def test_keys_added_by_others_are_ignored() -> None:
    values = diagnosis_as_dict(diagnosis(kept_loss()))
    values["findings"][0]["weather"] = "fine"
    values["later"] = True
    assert diagnosis_from_json(json.dumps(values), source="x") == diagnosis(kept_loss())


def test_a_newer_format_is_refused_by_naming_both() -> None:
    with pytest.raises(NewerFormatError, match="format 2, this Tenure reads up to 1"):
        diagnosis_from_json('{"format": 2}', source="findings.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": 1}', '{"format": 1, "findings": 3}', "{}"])
def test_damaged_text_is_named_with_its_file(text: str) -> None:
    with pytest.raises(RecordingError, match=r"^run/findings\.json is .*diagnose again$"):
        diagnosis_from_json(text, source="run/findings.json")


def test_ranks_are_written_where_there_are_several_processes_and_read_back() -> None:
    seen = diagnosis(replace(held_graph(), ranks=(0, 3)))

    text = diagnosis_as_json(seen)

    assert json.loads(text)["findings"][0]["ranks"] == [0, 3]
    assert "ranks" not in json.loads(diagnosis_as_json(diagnosis(held_graph())))["findings"][0]
    assert diagnosis_from_json(text, source="findings.json") == seen


def test_what_is_allowed_or_known_is_written_and_read_back() -> None:
    seen = diagnosis(held_graph(), suppressed=(kept_loss(),), known=2, baseline="old.json", looked_until=16)

    values = diagnosis_as_dict(seen)

    assert [item["rule"] for item in values["suppressed"]] == ["TN101"]
    assert (values["known"], values["baseline"], values["looked_until"]) == (2, "old.json", 16)
    assert diagnosis_from_json(diagnosis_as_json(seen), source="x") == seen
    assert "known" not in diagnosis_as_dict(diagnosis())
