"""A diagnosis as `findings.json`, and back. The keys are relied on by others: add, never rename."""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict
from typing import Any

from tenure.errors import NewerFormatError, RecordingError
from tenure.model.finding import CutReference, Diagnosis, Edit, Finding, Forecast, Holder, Interval, Remedy
from tenure.model.ran_out import HeldThen, RanOut

FORMAT = 1


def diagnosis_as_json(diagnosis: Diagnosis) -> str:
    """The text of findings.json, also what `--json` prints; ends with a newline."""
    return json.dumps(diagnosis_as_dict(diagnosis), indent=1, allow_nan=False) + "\n"


def diagnosis_as_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """Plain values, in the order of the documented schema."""
    return {
        "format": FORMAT,
        "recording": diagnosis.recording,
        "steps": diagnosis.steps,
        "findings": [finding_as_dict(finding) for finding in diagnosis.findings],
        "unexplained_growth_bytes_per_step": diagnosis.unexplained_growth_bytes_per_step,
        "not_seen": list(diagnosis.not_seen),
        "censuses": diagnosis.censuses,
        "suppressed": [finding_as_dict(finding) for finding in diagnosis.suppressed],
        **({"looked_until": diagnosis.looked_until} if diagnosis.looked_until is not None else {}),
        **({"ran_out": asdict(diagnosis.ran_out)} if diagnosis.ran_out is not None else {}),
        **({"known": diagnosis.known, "baseline": diagnosis.baseline} if diagnosis.known is not None else {}),
    }


def finding_as_dict(finding: Finding) -> dict[str, Any]:
    """One finding; keys that belong to the analysis alone (`explains`) are left out."""
    return {
        "rule": finding.rule,
        "name": finding.name,
        "symptom": finding.symptom,
        "confidence": finding.confidence,
        "origin": finding.origin,
        "message": finding.message,
        "holder": _holder_as_dict(finding.holder),
        "path": list(finding.path),
        "cut": [{"name": cut.name, "file": cut.file, "line": cut.line} for cut in finding.cut],
        "retained_bytes": finding.retained_bytes,
        "growth_bytes_per_step": finding.growth_bytes_per_step,
        "growth_bytes_per_step_interval": _interval_as_list(finding.growth_bytes_per_step_interval),
        "growth_objects_per_step": finding.growth_objects_per_step,
        "growth_objects_per_step_interval": _interval_as_list(finding.growth_objects_per_step_interval),
        "forecast": _forecast_as_dict(finding.forecast) if finding.forecast else None,
        "num_objects": finding.num_objects,
        "device": finding.device,
        "peak_bytes": finding.peak_bytes,
        "peak_drop_bytes": finding.peak_drop_bytes,
        "peak_basis": finding.peak_basis,
        "first_step": finding.first_step,
        "last_step": finding.last_step,
        "allocation": finding.allocation,
        "remedies": [_remedy_as_dict(remedy) for remedy in finding.remedies],
        "evidence": list(finding.evidence),
        "fingerprint": finding.fingerprint,
        **({"ranks": list(finding.ranks)} if finding.ranks else {}),
    }


def _forecast_as_dict(forecast: Forecast) -> dict[str, Any]:
    return {
        "limit": forecast.limit,
        "room_bytes": forecast.room_bytes,
        "steps": forecast.steps,
        "steps_interval": list(forecast.steps_interval),
        "seconds": forecast.seconds,
        "seconds_interval": list(forecast.seconds_interval),
    }


def _interval_as_list(interval: Interval | None) -> list[float] | None:
    return list(interval) if interval else None


def _holder_as_dict(holder: Holder) -> dict[str, Any]:
    return {
        "kind": holder.kind,
        "name": holder.name,
        "expression": holder.expression,
        "file": holder.file,
        "line": holder.line,
        "function": holder.function,
    }


def _remedy_as_dict(remedy: Remedy) -> dict[str, Any]:
    edits = [
        {"file": edit.file, "line": edit.line, "before": edit.before, "after": edit.after} for edit in remedy.edits
    ]
    return {"summary": remedy.summary, "edits": edits, "verified": remedy.verified}


def diagnosis_from_json(text: str, *, source: str) -> Diagnosis:
    """Read what `diagnosis_as_json` wrote; keys added by later minor versions are ignored.

    Raises RecordingError (naming `source`) for damaged text, NewerFormatError for a newer format.
    """
    try:
        values = json.loads(text)
        found = values["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise RecordingError(f"{source} is not a findings file; delete it and diagnose again") from error
    if not isinstance(found, int) or found > FORMAT:
        raise NewerFormatError(f"{source} has format {found}, this Tenure reads up to {FORMAT}; use a newer Tenure")
    try:
        return _diagnosis_from_dict(values)
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordingError(
            f"{source} is damaged (missing or wrong: {error}); delete it and diagnose again"
        ) from error


def _diagnosis_from_dict(values: dict[str, Any]) -> Diagnosis:
    return Diagnosis(
        recording=values["recording"],
        steps=values["steps"],
        censuses=values.get("censuses"),
        looked_until=values.get("looked_until"),
        findings=tuple(_finding_from_dict(finding) for finding in values["findings"]),
        unexplained_growth_bytes_per_step=values["unexplained_growth_bytes_per_step"],
        not_seen=tuple(values["not_seen"]),
        suppressed=tuple(_finding_from_dict(finding) for finding in values.get("suppressed", ())),
        known=values.get("known"),
        baseline=values.get("baseline", ""),
        ran_out=_ran_out_from(values["ran_out"]) if values.get("ran_out") else None,
    )


def _ran_out_from(values: dict[str, Any]) -> RanOut:
    held = tuple(_only_fields(HeldThen, each) for each in values["held"])
    found: RanOut = _only_fields(RanOut, {**values, "held": held})
    return found


def _finding_from_dict(values: dict[str, Any]) -> Finding:
    known = {name: values[name] for name in _PLAIN_FIELDS}
    return Finding(
        **known,
        growth_bytes_per_step_interval=_interval_from(values.get("growth_bytes_per_step_interval")),
        growth_objects_per_step=values.get("growth_objects_per_step"),
        growth_objects_per_step_interval=_interval_from(values.get("growth_objects_per_step_interval")),
        forecast=_forecast_from_dict(values["forecast"]) if values.get("forecast") else None,
        ranks=tuple(values.get("ranks", ())),
        holder=_only_fields(Holder, values["holder"]),
        path=tuple(values["path"]),
        cut=tuple(_only_fields(CutReference, cut) for cut in values["cut"]),
        remedies=tuple(_remedy_from_dict(remedy) for remedy in values["remedies"]),
        evidence=tuple(values["evidence"]),
    )


_PLAIN_FIELDS = (
    "rule", "name", "symptom", "confidence", "origin", "message", "retained_bytes", "growth_bytes_per_step",
    "num_objects", "device", "peak_bytes", "peak_drop_bytes", "peak_basis", "first_step", "last_step",
    "allocation", "fingerprint",
)  # fmt: skip


def _forecast_from_dict(values: dict[str, Any]) -> Forecast:
    intervals = {name: tuple(values[name]) for name in ("steps_interval", "seconds_interval")}
    forecast: Forecast = _only_fields(Forecast, {**values, **intervals})
    return forecast


def _interval_from(ends: list[float] | None) -> Interval | None:
    return (ends[0], ends[1]) if ends else None


def _remedy_from_dict(values: dict[str, Any]) -> Remedy:
    edits = tuple(_only_fields(Edit, edit) for edit in values["edits"])
    return Remedy(summary=values["summary"], edits=edits, verified=values["verified"])


def _only_fields(kind: Any, values: dict[str, Any]) -> Any:
    """What older formats lack keeps its default; a field without one must be there."""
    fields = kind.__dataclass_fields__
    return kind(**{name: values[name] for name in fields if name in values or fields[name].default is MISSING})
