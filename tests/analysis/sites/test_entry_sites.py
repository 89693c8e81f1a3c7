"""An entry of a batch that a library's functions hand on, told where the program puts it there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import carried, hop
from tenure.analysis.sites.entry_sites import by_the_dict_that_names_it, by_the_entry
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


STORE, SHOWERS = (
    "/lib/site-packages/torch_geometric/data/storage.py",
    """
class Metric:
    def __init__(self, metric):
        self.metric = metric

    def forward(self, data):
        data.metric = torch.cdist(data.pos, data.pos)
        return data
""",
)
MAPPING = HoldingReference("attribute", "_mapping", "batch._store._mapping", sites=(SourceLocation(STORE, 125, "set"),))
OF_GRAPH = (
    hop("LOCAL", "batch", "frame", "torch_geometric.data.Batch"),
    replace(hop("DICT", "__dict__", "torch_geometric.data.Batch", "dict"), user=False),
    replace(hop("ITEM", "'_store'", "dict", "torch_geometric.data.Storage"), user=False),
    replace(hop("DICT", "__dict__", "torch_geometric.data.Storage", "dict"), user=False),
    replace(hop("ITEM", "'_mapping'", "dict", "dict"), user=False),
    replace(hop("ITEM", "'metric'", "dict", "torch.Tensor"), user=False),
)


def test_what_a_library_has_in_a_dict_inside_is_told_by_the_attribute_that_the_program_sets() -> None:
    idle = replace(IDLE, holder=MAPPING, cut=(MAPPING,), path=OF_GRAPH)
    told_at = HoldingReference(
        "attribute", "metric", "batch.metric", "dict", sites=(SourceLocation(MINE, 7, "Metric.forward"),)
    )

    assert told(idle, SHOWERS) == replace(idle, holder=told_at, cut=(told_at,), holder_is_yours=True, ambiguous=False)
    assert told(idle, SHOWERS.replace("data.metric", "data.distance")) == idle
    own = (*OF_GRAPH[:2], replace(OF_GRAPH[2], user=True), *OF_GRAPH[3:])
    assert told(replace(idle, path=own), SHOWERS) == replace(idle, path=own)


TABLE = HoldingReference(
    "item", "modules['encoder']", "brain.modules['encoder']", sites=(SourceLocation(LOOP, 321, "Brain.__init__"),)
)
KEPT = replace(carried(), symptom="survivor", holder=TABLE, cut=(TABLE,), through_graph=False)
BUILDS = """
def build(width):
    return {
        "encoder": Encoder(width),
        "head": Head(width),
    }
"""


@pytest.mark.parametrize(
    ("text", "line"), [(BUILDS, 4), ("modules['encoder'] = Encoder(8)\n", 1), ("run({'encoder': net})\n", 1)]
)
def test_an_entry_of_a_librarys_table_of_modules_is_told_where_the_program_names_it(text: str, line: int) -> None:
    found = by_the_dict_that_names_it(KEPT, {LOOP: SourceFile(LOOP, "", "library"), MINE: SourceFile(MINE, text)})

    assert (found.holder.name, [site.line for site in found.holder.sites]) == ("encoder", [line])
    assert (found.cut, found.holder_is_yours, found.ambiguous) == ((found.holder,), True, False)


COLLATED = """
def collate(records):
    return {
        "images": stack(records),
        "metas": [record["meta"] for record in records],
    }

def run(batches):
    for batch in batches:
        train(batch)
"""
METAS = HoldingReference("item", "batch['metas']", "batch['metas']", sites=(SourceLocation(MINE, 9, "run"),))
OF_BATCH = replace(carried(), holder=METAS, cut=(METAS,), through_graph=False)


@pytest.mark.parametrize(
    ("suspect", "text", "line"),
    [
        (OF_BATCH, COLLATED, 5),
        (OF_BATCH, COLLATED.replace("in batches:", "in batches:  # has metas"), 9),
        (replace(OF_BATCH, symptom="survivor"), COLLATED, 9),
        (OF_BATCH, COLLATED + "again = {'metas': 3}\n", 9),
    ],
    ids=["where it is put", "named where it is got", "of another symptom", "put in two places"],
)
def test_an_entry_of_a_table_that_the_program_only_gets_is_told_where_it_is_put(
    suspect: Suspect, text: str, line: int
) -> None:
    found = by_the_dict_that_names_it(suspect, {MINE: SourceFile(MINE, text)})

    assert [site.line for site in found.holder.sites] == [line]


@pytest.mark.parametrize(
    ("suspect", "text"),
    [
        (KEPT, "settings = {'encoder': 3}\n"),
        (KEPT, "first, second = {'encoder': net}, {'encoder': Encoder()}\n"),
        (replace(KEPT, holder=replace(TABLE, kind="attribute")), BUILDS),
        (replace(KEPT, holder=replace(TABLE, sites=(SourceLocation(MINE, 2, "build"),))), BUILDS),
        (replace(KEPT, symptom="growth"), BUILDS),
    ],
    ids=["a setting", "named twice", "no entry", "told in the program already", "of ever more"],
)
def test_other_entries_stay_where_they_are(suspect: Suspect, text: str) -> None:
    sources = {LOOP: SourceFile(LOOP, "", "library"), MINE: SourceFile(MINE, text)}

    assert by_the_dict_that_names_it(suspect, sources) == suspect
