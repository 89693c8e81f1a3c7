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
