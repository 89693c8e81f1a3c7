"""Programs written for the host, copied so that what they make lies on the first CUDA device; their lines stay."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

_IMPORT = re.compile(r"^(?=(?:import torch\b|from torch\b))", re.MULTILINE)
_SHIM = "tensors_on_cuda"
_TEXT = '''\
"""From here on tensors and modules are made on the CUDA device, generators of random numbers too."""

import warnings

import torch

warnings.filterwarnings("ignore", message=".*set_default_tensor_type.*")
torch.set_default_tensor_type("torch.cuda.FloatTensor")
_Generator = torch.Generator


class Generator(_Generator):
    def __new__(cls, device="cuda"):
        return _Generator.__new__(_Generator, device)


torch.Generator = Generator
'''


def copy_moved_to_cuda(folder: Path, into: Path) -> None:
    """Copy a program's folder; the first import of torch in each file brings the device with it, in the same line.

    No mode of torch's is used for it, so that operations are called as the program calls them. What reads its tensors
    by `numpy()` without `cpu()` fails there, as it would have on any device.
    """
    shutil.copytree(folder, into)
    for path in into.rglob("*.py"):
        path.write_text(_IMPORT.sub(f"import {_SHIM}; ", path.read_text(), count=1))
    (into / f"{_SHIM}.py").write_text(_TEXT)
