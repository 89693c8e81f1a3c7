"""What the runs of a plan need of torch and of ours, imported once for all of them (`startup/_tenure_prepared.py`).

Importing it imports the rest; nothing is switched on. The recorder would import these when it comes to them, and an
optimizer of torch's the compiler, which takes as long as all else.
"""

from __future__ import annotations

import contextlib
import importlib

_WANTED = (
    "torch",
    "tenure.capture.from_environment",
    "tenure.capture.profile.amp_on_host",
    "tenure.capture.profile.as_written",
    "tenure.capture.profile.autocast_as_on_cuda",
    "tenure.capture.profile.cuda_on_host",
    "tenure.capture.profile.half_products",
    "tenure.capture.profile.known_at_end",
    "tenure.capture.profile.moves_as_on_cuda",
    "tenure.capture.profile.offload_as_on_cuda",
    "tenure.capture.profile.stream_watch",
    "tenure.capture.trying.one_rank",
    "tenure.capture.trying.trial",
    "tenure.store.known_file",
    "tenure.store.stream_file",
    "tenure.store.survey_file",
    "torch.utils.checkpoint",
)
_IF_THERE = ("torch._dynamo",)

for _name in _WANTED:
    importlib.import_module(_name)
for _name in _IF_THERE:
    with contextlib.suppress(ImportError):
        importlib.import_module(_name)
