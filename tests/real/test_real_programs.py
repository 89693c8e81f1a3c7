"""Programs with the libraries people train with: silent when healthy, the right line when something is kept."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from programs.start import diagnose, line_of

NEEDS = {
    "real_trainer.py": "transformers",
    "real_lightning.py": "lightning",
    "real_accelerate.py": "accelerate",
    "real_plain.py": "torch",
}
LEAKS = (
    ("real_trainer.py", "callback", "self.history.append(weights)", "history"),
    ("real_trainer.py", "outputs", "self.seen.append(outputs.loss)", "seen"),
    ("real_lightning.py", "losses", "self.losses.append(loss)", "losses"),
    ("real_accelerate.py", "average", "total = total + loss", "total"),
    ("real_plain.py", "outputs", "seen.append(outputs)", "seen"),
)


@pytest.mark.slow
@pytest.mark.parametrize("program", NEEDS)
def test_a_healthy_program_is_left_in_peace(program: str, tmp_path: Path) -> None:
    _need(program)

    report = diagnose(program, "healthy", folder=tmp_path / "run")

    assert report["steps"] >= 20
    loud = [finding for finding in report["findings"] if finding["confidence"] != "possible"]
    assert [(finding["rule"], finding["message"]) for finding in loud] == []


@pytest.mark.slow
@pytest.mark.parametrize(("program", "kind", "text", "name"), LEAKS)
def test_what_a_program_keeps_is_named_with_its_line(
    program: str, kind: str, text: str, name: str, tmp_path: Path
) -> None:
    _need(program)

    report = diagnose(program, kind, folder=tmp_path / "run")

    holders = [finding["holder"] for finding in report["findings"][:3] if finding["confidence"] != "possible"]
    places = [(Path(holder["file"]).name, holder["line"], name in holder["expression"]) for holder in holders]
    assert (program, line_of(program, text), True) in places, report["findings"]


def _need(program: str) -> None:
    name = NEEDS[program]
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed; `pip install -e .[real]` brings it")
