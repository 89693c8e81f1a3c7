"""Freeing what a census has seen never overflows the program's stack."""

from __future__ import annotations

import pytest

from programs.start import start

SCENES = {
    "long-sum": 300,
    "backward": 40,
    "100-layers": 8,
    "freed-inside": 5,
    "recurrent": 6,
    "joined-late": 24,
    "states-kept": 4,
}
VARIATIONS = {"48-layers": 8, "many-small": 6, "prolonged": 30, "states-kept-reversed": 4}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scene", "censuses"),
    [*SCENES.items(), *(pytest.param(*each, marks=pytest.mark.thorough) for each in VARIATIONS.items())],
)
def test_a_graph_is_freed_as_it_would_have_been_without_a_census(scene: str, censuses: int) -> None:
    plain = start("long_graphs.py", scene, "0")
    watched = start("long_graphs.py", scene, str(censuses))

    assert (watched.exit_code, watched.stdout) == (plain.exit_code, plain.stdout), watched.stderr
    assert plain.stdout.endswith("over\n")
    assert not watched.stderr.startswith("censuses 0 ")
