from __future__ import annotations

from textwrap import dedent

import pytest

from tenure.analysis.sites.binding_sites import resolve_sites
from tenure.model.source import SourceFile
from tenure.model.suspect import HoldingReference

ATOMS = """
    class Atoms(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits):
            columns = torch.softmax(logits, -1)[..., None]
            ctx.save_for_backward(columns)
            return columns[..., 0]


    class Others(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x + 1
"""
SOURCES = {
    "atoms.py": SourceFile("atoms.py", dedent(ATOMS)),
    "train.py": SourceFile("train.py", "from atoms import Atoms\nAtoms.apply(x)\n"),
}


@pytest.mark.parametrize(("function", "line"), [("AtomsBackward", 6), ("OthersBackward", 13), ("AtomBackward", None)])
def test_what_a_custom_function_saves_is_told_at_its_call_of_save_for_backward(function: str, line: int | None) -> None:
    saved = HoldingReference("saved", "save_for_backward", ".saved", owner_type=function)

    sites = resolve_sites(saved, SOURCES, growing=True)

    assert [(site.file, site.line) for site in sites] == ([("atoms.py", line)] if line else [])


ALIGNMENT = """
    class Alignment(torch.autograd.Function):
        @staticmethod
        def setup_context(ctx, inputs, output):
            found = dict(posterior=output[1])
            for name in KEPT:
                setattr(ctx, name, found[name])
            setattr(ctx.notes, name, found[name])


    class Other(torch.autograd.Function):
        @staticmethod
        def setup_context(ctx, inputs, output):
            for name in KEPT:
                setattr(ctx, name, inputs)
"""


@pytest.mark.parametrize(("function", "lines"), [("AlignmentBackward", [7]), ("OtherBackward", [15])])
def test_what_is_set_on_ctx_under_a_computed_name_is_told_at_the_call_that_sets_it(
    function: str, lines: list[int]
) -> None:
    kept = HoldingReference("cycle", "posterior", "ctx.posterior", owner_type=function)
    plain = ALIGNMENT.replace(
        "            for name in KEPT:", "            ctx.posterior = output\n            for name in KEPT:"
    )

    def told(text: str) -> list[int]:
        source = SourceFile("align.py", dedent(text))
        return [site.line for site in resolve_sites(kept, {"align.py": source}, growing=False)]

    assert told(ALIGNMENT) == lines
    assert told(plain)[0] == {"AlignmentBackward": 6, "OtherBackward": 15}[function]
