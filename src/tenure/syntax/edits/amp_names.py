"""Calls of `torch.cuda.amp` and `torch.cpu.amp` by their newer names."""

from __future__ import annotations

import ast

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import only_if_it_parses, split_lines
from tenure.syntax.text.scopes import dotted

DEVICES = {"torch.cuda.amp": "cuda", "torch.cpu.amp": "cpu"}


def rename_amp(source: SourceFile, call: ast.Call) -> tuple[Edit, ...]:
    """The edit that makes `torch.amp.autocast("cuda")` of `torch.cuda.amp.autocast()`, and so for GradScaler.

    None for arguments by place of `autocast`, whose order is another one in the newer function.
    """
    module, _, name = dotted(call.func).rpartition(".")
    start, end = call.func.col_offset, call.func.end_col_offset
    if module not in DEVICES or name not in ("autocast", "GradScaler") or call.func.lineno != call.func.end_lineno:
        return ()
    line = split_lines(source.text)[call.func.lineno - 1].rstrip("\r\n")
    raw = line.encode()
    if (name == "autocast" and call.args) or raw[end : (end or 0) + 1] != b"(":
        return ()
    rest = ", " if call.args or call.keywords else ""
    made = f'torch.amp.{name}("{DEVICES[module]}"{rest}'.encode()
    after = raw[:start] + made + raw[(end or 0) + 1 :]
    return only_if_it_parses(source, [Edit(source.path, call.func.lineno, line, after.decode())])
