from __future__ import annotations

from dataclasses import replace
from textwrap import dedent
from typing import Literal

import pytest

from tenure.analysis.sites.binding_sites import resolve_sites
from tenure.analysis.sites.record_sites import fields_to_drop, record_that_is_kept
from tenure.model.source import SourceFile
from tenure.model.suspect import HoldingReference

KEPT = HoldingReference("attribute", "batch", "pipeline.batch", owner_type="train.Pipeline")
FIELD = HoldingReference("attribute", "rows", "pipeline.batch.rows", owner_type="train.Batch", record=KEPT)
MADE = """\
    from dataclasses import dataclass
    @dataclass
    class Batch:
        rows: object
    def draw(rows):
        return Batch(rows)
    class Pipeline:
        def load(self):
            self.batch = draw(read())
    """


def record_in(text: str, reference: HoldingReference = FIELD) -> HoldingReference | None:
    return record_that_is_kept(reference, {"train.py": SourceFile("train.py", dedent(text), "yours")})


def test_a_field_that_the_constructor_fills_goes_by_its_record() -> None:
    assert record_in(MADE) == KEPT
    assert record_in(MADE.replace("Batch(rows)", "Batch(*rows)")) == KEPT
    plain = "class Batch:\n    def __init__(self, rows):\n        self.rows = rows\n"
    assert record_in(plain) == KEPT


def test_a_private_field_is_its_classs_to_let_go_of() -> None:
    text = "class Batch:\n    def __init__(self, rows):\n        self._rows = rows\n"

    assert record_in(text, replace(FIELD, name="_rows")) is None


def test_what_is_stored_into_an_object_later_keeps_its_own_statement() -> None:
    text = "class Batch:\n    def fill(self, rows):\n        self.rows = rows\n"

    assert record_in(text) is None
    assert record_in(MADE, replace(FIELD, record=None)) is None


def test_a_record_of_the_programs_that_a_library_keeps_goes_by_its_field() -> None:
    text = dedent(MADE)
    record = replace(KEPT, owner_type="core.Pipeline")
    makes, keeps = (
        text[: text.index("class Pipeline")],
        "class Pipeline:\n    def load(self):\n        self.batch = read()\n",
    )

    def kept_by(origin: Literal["yours", "library"]) -> HoldingReference | None:
        sources = {"train.py": SourceFile("train.py", makes), "core.py": SourceFile("core.py", keeps, origin)}
        return record_that_is_kept(replace(FIELD, record=record), sources)

    assert (kept_by("yours"), kept_by("library")) == (record, None)


SCRATCH = """\
    class Scratch:
        masks = None
    class Cascade:
        def __init__(self):
            self.scratch = Scratch()
        def locate(self, plates):
            self.scratch.masks = find(plates)
    """
FILLED = """\
    from dataclasses import dataclass
    @dataclass
    class Scratch:
        masks: object
    class Cascade:
        def __init__(self, plates):
            self.scratch = Scratch(find(plates))
    """
MASKS = HoldingReference("attribute", "masks", "cascade.scratch.masks", owner_type="train.Scratch")
RECORD = HoldingReference("attribute", "scratch", "cascade.scratch", owner_type="train.Cascade", fields=((MASKS,),))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(SCRATCH, (MASKS,), id="made once"),
        pytest.param(SCRATCH.replace("__init__", "begin"), (), id="made anew"),
        pytest.param(FILLED, (), id="filled as it is made"),
    ],
)
def test_of_a_record_that_its_owner_makes_once_the_field_is_to_be_dropped(
    text: str, told: tuple[HoldingReference, ...]
) -> None:
    sources = {"train.py": SourceFile("train.py", dedent(text), "yours")}
    (site, *_) = resolve_sites(RECORD, sources, growing=False)

    assert fields_to_drop(RECORD, site, sources) == told


ENCODING = """\
    def main():
        encoder = Encoder(make_model())
        latents = encoder.encode(images)
        for step in range(10):
            train(latents)
        {rest}
    """
PART = HoldingReference("attribute", "vae", "encoder.vae", owner_type="encode.Encoder")


@pytest.mark.parametrize(
    ("rest", "told"), [("print(encoder.scale)", (PART,)), ("print(latents)", ()), ("del encoder", ())]
)
def test_of_a_variable_that_is_still_read_the_part_is_to_be_dropped(
    rest: str, told: tuple[HoldingReference, ...]
) -> None:
    carrier = HoldingReference("local", "encoder", "encoder", scope_file="t.py", scope_function="main", scope_line=5)
    sources = {"t.py": SourceFile("t.py", dedent(ENCODING.replace("{rest}", rest)), "yours")}
    record = replace(carrier, fields=((PART,),))
    (site, *_) = resolve_sites(record, sources, growing=False)

    assert (fields_to_drop(record, site, sources), fields_to_drop(carrier, site, sources)) == (told, ())


def test_of_a_variable_that_a_loop_binds_anew_the_record_is_to_be_dropped() -> None:
    text = """\
    def work(requests, done):
        while True:
            name = requests.get()
            encoder = build(name)
            done.put(encoder)
    """
    record = HoldingReference("local", "encoder", "encoder", scope_file="t.py", scope_function="work", scope_line=3,
                              fields=((PART,),))  # fmt: skip
    sources = {"t.py": SourceFile("t.py", dedent(text), "yours")}
    (site, *_) = resolve_sites(record, sources, growing=False)

    assert (site.line, fields_to_drop(record, site, sources)) == (4, ())
