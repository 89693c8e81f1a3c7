"""An entry of a batch that a library's functions hand on, told where the program puts it there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import carried, hop
from tenure.analysis.sites.entry_sites import by_the_entry
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect

LOOP, MINE = "/lib/site-packages/lightning/loops.py", "/me/clips.py"
CLIPS = """
class Pipeline:
    def normalise(self, sample):
        sample["video"] = sample["video"].float()
        return sample
"""
BATCH = HoldingReference("local", "batch", "batch", scope_file=LOOP, sites=(SourceLocation(LOOP, 307, "Loop.advance"),))
CLOSURE = HoldingReference(
    "attribute", "_step_fn", "closure._step_fn", sites=(SourceLocation(LOOP, 124, "C.__init__"),)
)
PATH = (hop("LOCAL", "batch", "frame", "dict"), hop("ITEM", "'video'", "dict", "torch.Tensor"))
IDLE = replace(carried(), holder=BATCH, cut=(CLOSURE, BATCH), path=PATH, through_graph=False)


def told(suspect: Suspect, text: str = CLIPS) -> Suspect:
    return by_the_entry(suspect, {LOOP: SourceFile(LOOP, "", "library"), MINE: SourceFile(MINE, text)})


def test_the_entry_is_to_be_dropped_and_not_the_librarys_names_for_the_batch() -> None:
    entry = HoldingReference(
        "item", "video", "batch['video']", "dict", sites=(SourceLocation(MINE, 4, "Pipeline.normalise"),)
    )

    assert told(IDLE) == replace(IDLE, holder=entry, cut=(entry,), holder_is_yours=True, ambiguous=False)


def test_two_statements_that_store_under_the_key_are_ambiguous() -> None:
    found = told(IDLE, CLIPS + "    def crop(self, sample):\n        sample['video'] = crop(sample)\n")

    assert ([site.line for site in found.holder.sites], found.ambiguous) == ([4, 7], True)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, CLIPS.replace('sample["video"] =', 'sample["clip"] =')),
        ({"symptom": "growth"}, CLIPS),
        ({"through_graph": True}, CLIPS),
        ({"path": PATH[:1]}, CLIPS),
        ({"path": (PATH[0], hop("INDEX", "0", "list", "torch.Tensor"))}, CLIPS),
        ({"cut": (replace(BATCH, sites=(SourceLocation(MINE, 3, "f"),)),)}, CLIPS),
    ],
    ids=["stored nowhere", "growth", "a graph", "no entry", "an element", "a name of the user's"],
)
def test_anything_else_is_told_as_it_is(changes: dict[str, object], text: str) -> None:
    suspect = replace(IDLE, **changes)  # type: ignore[arg-type]

    assert told(suspect, text) == suspect
