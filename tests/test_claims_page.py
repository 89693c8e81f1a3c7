"""docs/claims.md: the short part of what `benchmarks/claims.py` measures, run again."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def claims() -> ModuleType:
    spec = importlib.util.spec_from_file_location("claims", ROOT / "benchmarks" / "claims.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured() -> dict[str, str]:
    """By the first words of each claim, what the page says was measured."""
    lines = (ROOT / "docs" / "claims.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")][2:]
    return {row[0]: row[2] for row in rows}


def test_six_claims_stand_on_the_page() -> None:
    assert len(measured()) == 6


@pytest.mark.slow
def test_where_parameters_are_the_memory_autocast_saves_what_the_page_says(
    claims: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    plans = [claims.planned(lambda a=a: claims.perceptron(rows=64, autocast=a)) for a in (False, True)]

    said = measured()["autocast saves 40 to 60 %"]
    assert said.startswith(f"{claims.less(*plans)} % of the peak less with 64 rows")


@pytest.mark.slow
def test_with_as_many_checkpoints_as_the_root_of_the_depth_the_peak_grows_as_the_page_says(
    claims: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    least, later = (
        claims.planned(lambda d=d: claims.chain(depth=d, segments=round(d**0.5))).peak_active_bytes for d in (4, 16)
    )

    said = measured()["checkpointing makes activations grow with the square root of depth"]
    assert f"root of the depth {later / least:.1f} and" in said
