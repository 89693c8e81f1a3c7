from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tenure.rules.known_leaks import KnownLeak, known_leaks, match_known_leaks, version_of

LEAK = KnownLeak(
    id="plans",
    title="plans are kept",
    issues=("https://github.com/pytorch/pytorch/issues/1",),
    first="2.6",
    fixed="2.10",
    operators=("aten.mm", "aten._fft*"),
    devices=("cuda",),
    shapes="vary",
    unless=("PLANS",),
    workaround="fixed shapes",
    source="the thread",
)


def matched(
    torch: str = "2.9.1+cu128",
    operators: Sequence[str] = ("aten.add", "aten._fft_r2c"),
    devices: Sequence[str] = ("cpu", "cuda:0"),
    shapes_vary: bool = True,
    environment: Mapping[str, str] | None = None,
) -> list[tuple[str, ...]]:
    found = match_known_leaks(
        torch=torch,
        operators=operators,
        devices=devices,
        shapes_vary=shapes_vary,
        environment=environment or {},
        leaks=(LEAK,),
    )
    return [match.operators for match in found]


def test_version_operator_device_and_shapes_must_fit() -> None:
    assert matched() == [("aten._fft_r2c",)]
    assert matched(torch="2.6.0") == [("aten._fft_r2c",)]
    assert matched(torch="2.10.0") == matched(torch="2.5.1") == matched(torch="") == []
    assert matched(operators=["aten.mm_out", "aten.add"]) == []
    assert matched(devices=["cpu"]) == []
    assert matched(shapes_vary=False) == []
    assert matched(environment={"PLANS": "4"}) == []


def test_versions_are_numbers() -> None:
    assert version_of("2.13.0+cpu") == (2, 13, 0) > version_of("2.9.1")
    assert version_of("nightly") == ()


def test_the_entries_that_we_have_are_whole() -> None:
    leaks = known_leaks()

    assert len({leak.id for leak in leaks}) == len(leaks)
    assert [leak.id for leak in leaks if not (version_of(leak.first) and leak.operators and leak.devices)] == []
    assert [leak.id for leak in leaks if leak.shapes not in ("", "vary") or not leak.source] == []
    addresses = [issue for leak in leaks for issue in leak.issues]
    assert [address for address in addresses if not address.startswith("https://github.com/")] == []


def test_an_entry_with_other_keys_is_refused(tmp_path: Path) -> None:
    (tmp_path / "leaks.toml").write_text('[[leak]]\nid = "x"\n')

    with pytest.raises(TypeError, match="missing"):
        known_leaks(tmp_path / "leaks.toml")
