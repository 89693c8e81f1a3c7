"""Has it told that a program compiles: plans run it as it is written, for compiled code cannot be watched."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import Any

import torch

from tenure.capture.profile.run_notes import note_of_run

AS_WRITTEN = (
    "torch.compile was switched off: the program is planned as it is written, operation by operation; compiled code "
    "keeps other tensors"
)
_COMPILE_THEMSELVES = (str(Path(torch.__file__).parent) + os.sep, f"{os.sep}torchao{os.sep}")


def note_compiling() -> None:
    """For the rest of this process; `TORCHDYNAMO_DISABLE` is what switches it off."""
    compiled = torch.compile

    @functools.wraps(compiled)
    def compile(*args: Any, **named: Any) -> Any:
        frame: Any = sys._getframe(1)
        of_module = frame.f_code is torch.nn.Module.compile.__code__
        is_ours = of_module or not any(part in frame.f_code.co_filename for part in _COMPILE_THEMSELVES)
        if is_ours and not named.get("disable"):
            note_of_run(AS_WRITTEN)
        return compiled(*args, **named)

    torch.compile = compile
