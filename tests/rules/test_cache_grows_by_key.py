from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS, carried, finding
from tenure.model.finding import CutReference, Holder
from tenure.model.suspect import Suspect
from tenure.rules.cache_grows_by_key import check_suspect

REMEDY = (
    "bound it: key by a rounded-up size, build the largest once and slice it, drop the oldest entry "
    "(`OrderedDict.popitem(last=False)`), or use `functools.lru_cache(maxsize=n)`"
)


def test_a_cache_by_length_is_told_with_its_newest_keys() -> None:
    assert check_suspect(SPECIMENS["TN203"]) == finding(
        REMEDY,
        message="`model.masks[*]` gets an entry for every new key (the newest: `256`, `293`) and drops none: 1.00 MiB"
        " per step.",
        rule="TN203",
        name="cache-grows-by-key",
        holder=Holder(
            kind="attribute",
            name="masks",
            expression="model.masks[*]",
            file="/projects/asr/train.py",
            line=24,
            function="fit",
        ),
        cut=(CutReference(name="masks", file="/projects/asr/train.py", line=24),),
        evidence=(
            {
                "kind": "path",
                "references": ["local variable `history` in fit (train.py:20)", "[3]"],
                "targets": [],
                "suspect_from": None,
            },
            {
                "kind": "series",
                "moment": "step-end",
                "steps": [1, 2, 3],
                "bytes": [1048576, 2097152, 3145728],
                "objects": [1, 2, 3],
                "graph_nodes": [0, 0, 0],
            },
            {"kind": "roles", "bytes_by_role": {"OTHER": 3145728}},
            {"kind": "facts", "keys": ["256", "293"], "keys_count_up": False},
        ),
    )


@pytest.mark.parametrize(
    ("num_bytes", "objects_per_step", "confidence"),
    [(748, 0.1, "possible"), (748, 1.0, "certain"), (64 << 10, 0.1, "certain")],
)
def test_a_few_bytes_under_a_few_lengths_are_a_hint(num_bytes: int, objects_per_step: float, confidence: str) -> None:
    suspect = replace(SPECIMENS["TN203"], retained_bytes=num_bytes, growth_objects_per_step=objects_per_step)

    found = check_suspect(suspect)

    assert found is not None
    assert found.confidence == confidence


OTHERS = {
    "a list is no cache": SPECIMENS["TN202"],
    "what does not grow is none": carried(holder=SPECIMENS["TN203"].holder),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
