from __future__ import annotations

import ast

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.edits.amp_imports import old_device, rename_import
from tenure.syntax.edits.line_edits import apply_edits
from tenure.syntax.text.scopes import parse


def renamed(text: str, *others: SourceFile) -> str | None:
    """The text as the first import's edits leave it; None without edits."""
    source = SourceFile("t.py", text)
    statement = next(node for node in parse(source).body if isinstance(node, (ast.Import, ast.ImportFrom)))
    edits = rename_import([source, *others], source, statement)
    return apply_edits(text, edits) if edits else None


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            "from torch.cuda.amp import autocast, GradScaler  # é\ns = GradScaler()\nwith autocast(dtype=d): pass\n",
            'from torch.amp import autocast, GradScaler  # é\ns = GradScaler("cuda")\n'
            'with autocast("cuda", dtype=d): pass\n',
        ),
        (
            "from torch.cuda.amp import GradScaler as Scaler\nx, y = Scaler(1024.0), Scaler()\n",
            'from torch.amp import GradScaler as Scaler\nx, y = Scaler("cuda", 1024.0), Scaler("cuda")\n',
        ),
        (
            "from torch.cpu.amp import autocast\n@autocast()\ndef f(): pass\n",
            'from torch.amp import autocast\n@autocast("cpu")\ndef f(): pass\n',
        ),
        (
            "from torch.cuda import amp\nwith amp.autocast(): amp.GradScaler()\n",
            'from torch import amp\nwith amp.autocast("cuda"): amp.GradScaler("cuda")\n',
        ),
        (
            "import torch.cuda.amp as amp\ns = amp.GradScaler()\n",
            'import torch.amp as amp\ns = amp.GradScaler("cuda")\n',
        ),
        (
            "from torch.cuda.amp.grad_scaler import GradScaler\ns = GradScaler()\n",
            'from torch.amp import GradScaler\ns = GradScaler("cuda")\n',
        ),
        ("from torch.cuda.amp import autocast\nwith autocast(True): pass\n", None),
        ("from torch.cuda.amp import autocast, custom_fwd\nwith autocast(): pass\n", None),
        ("from torch.cuda.amp import autocast\nf(autocast)\n", None),
        ("from torch.cuda.amp import GradScaler\nisinstance(x, GradScaler)\n", None),
        ("from torch.cuda.amp import autocast\ndef f(autocast): autocast()\n", None),
        ("from torch.cuda.amp import autocast\nautocast = None\n", None),
        ("from torch.cuda.amp import autocast\n__all__ = ['autocast']\n", None),
        ("from torch.cuda.amp import autocast\nfrom mine import autocast\nautocast()\n", None),
        ("from torch.cuda.amp import (\n    autocast,\n)\nautocast()\n", None),
        ("from torch.cuda import amp\namp.custom_fwd()\n", None),
        ("from torch.cuda import amp, synchronize\namp.autocast()\n", None),
    ],
)
def test_an_import_is_renamed_with_all_calls_where_they_mean_the_same(text: str, after: str | None) -> None:
    assert renamed(text) == after


def test_a_name_that_another_file_imports_from_here_stays() -> None:
    text = "from torch.cuda.amp import autocast\nautocast()\n"
    assert renamed(text, SourceFile("u.py", "from t import autocast\nautocast()\n")) is None
    assert renamed(text, SourceFile("u.py", "from torch.cuda.amp import autocast\nautocast()\n")) is not None


@pytest.mark.parametrize(
    ("statement", "device"),
    [
        ("from torch.cuda.amp import autocast", "cuda"),
        ("from torch.cpu import amp", "cpu"),
        ("import torch.cuda.amp as amp", "cuda"),
        ("import torch.cuda.amp", ""),
        ("from torch.amp import autocast", ""),
        ("from torch.cuda import synchronize", ""),
        ("from .amp import autocast", ""),
    ],
)
def test_the_older_names_are_known_by_their_modules(statement: str, device: str) -> None:
    node = ast.parse(statement).body[0]
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    assert old_device(node) == device
