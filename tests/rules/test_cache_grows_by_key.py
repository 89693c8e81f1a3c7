from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS, carried, finding
from tenure.lint import lint_sources
from tenure.model.finding import CutReference, Holder, Interval
from tenure.model.source import SourceFile
from tenure.model.suspect import LOOKED_UP, Suspect
from tenure.rules.cache_grows_by_key import check_suspect

REMEDY = (
    "bound it: key by a rounded-up size, build the largest once and slice it, drop the oldest entry "
    "(`OrderedDict.popitem(last=False)`), or use `functools.lru_cache(maxsize=n)`"
)
OF_STEPS = "keep the last few (`deque(maxlen=n)`), `pop` an entry once it is used, or keep a number of it (`x.item()`)"

SOURCE = """
import torch
class Probe(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.outputs = {{}}
    def note(self, step, x):
        if {key} not in self.outputs:
            self.outputs[{key}] = x.detach()
def train(model, optimizer, loader):
    probe = Probe()
    for step, batch in enumerate(loader):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        probe.note(step, loss * batch)
"""


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


def test_a_table_whose_keys_count_up_is_a_cache_where_the_program_looks_for_them_first() -> None:
    counting = {"keys": ["30", "31", "32"], "keys_count_up": True}
    plain, looked_up = (
        check_suspect(replace(SPECIMENS["TN203"], facts=counting | more)) for more in ({}, {LOOKED_UP: True})
    )

    assert plain is None
    assert looked_up is not None
    assert [each.summary for each in looked_up.remedies] == [f"as numbers of steps its keys only rise: {OF_STEPS}"]


@pytest.mark.parametrize(
    ("num_bytes", "objects_per_step", "confidence"),
    [(748, 0.1, "possible"), (748, 1.0, "certain"), (256 << 10, 0.1, "certain")],
)
def test_a_few_bytes_under_a_few_lengths_are_a_hint(num_bytes: int, objects_per_step: float, confidence: str) -> None:
    rates = {"growth_objects_per_step": objects_per_step, "num_objects": 9}
    suspect = replace(SPECIMENS["TN203"], retained_bytes=num_bytes, **rates)

    found = check_suspect(suspect)

    assert found is not None
    assert found.confidence == confidence


@pytest.mark.parametrize(
    ("objects", "num_bytes", "confidence"),
    [
        ((-0.15, 0.36), (-4471.0, 12231.8), "possible"),
        ((0.0, 0.36), (-4471.0, 12231.8), "certain"),
        ((0.1, 0.36), (409.6, 12231.8), "certain"),
        (None, None, "certain"),
    ],
)
def test_a_table_whose_growth_may_as_well_be_none_is_a_hint(
    objects: Interval | None, num_bytes: Interval | None, confidence: str
) -> None:
    found = check_suspect(replace(SPECIMENS["TN203"], objects_interval=objects, bytes_interval=num_bytes))

    assert found is not None
    assert found.confidence == confidence


def test_entries_by_numbers_of_steps_are_told_to_be_dropped_after_use() -> None:
    rising = replace(SPECIMENS["TN203"], facts={"keys": ["30", "35"], "keys_count_up": False, "keys_rise": True})

    found = check_suspect(rising)

    assert found is not None
    assert [remedy.summary for remedy in found.remedies] == [f"as numbers of steps its keys only rise: {OF_STEPS}"]


@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        ("step", OF_STEPS),
        ("('train', step // 5)", OF_STEPS),
        ("x.shape", "bound it: drop the oldest entry beyond some number, or keep one entry"),
    ],
)
def test_source_that_stores_by_step_is_told_another_remedy_than_a_cache_by_shape(key: str, remedy: str) -> None:
    findings, _ = lint_sources([SourceFile("program.py", SOURCE.format(key=key))])

    assert [(found.rule, found.line, found.remedy) for found in findings] == [("TN203", 9, remedy)]


OTHERS = {
    "a list is no cache": SPECIMENS["TN202"],
    "what does not grow is none": carried(holder=SPECIMENS["TN203"].holder),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
