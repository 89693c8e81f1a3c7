from __future__ import annotations

import ast

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.edits.amp_names import rename_amp
from tenure.syntax.edits.line_edits import apply_edits


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("é = torch.cuda.amp.autocast()  # é\n", 'é = torch.amp.autocast("cuda")  # é\n'),
        ("torch.cpu.amp.autocast(enabled=False)\n", 'torch.amp.autocast("cpu", enabled=False)\n'),
        ("torch.cuda.amp.GradScaler(\n    1024,\n)\n", 'torch.amp.GradScaler("cuda", \n    1024,\n)\n'),
        ("torch.cuda.amp.autocast(True)\n", None),
        ("torch.cuda.amp.custom_fwd(cast_inputs=x)\n", None),
        ("torch.cuda.amp.autocast ()\n", None),
    ],
)
def test_a_call_is_renamed_where_its_arguments_mean_the_same(text: str, after: str | None) -> None:
    source = SourceFile("t.py", text)
    call = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    edits = rename_amp(source, call)
    assert (apply_edits(text, edits) if edits else None) == after
