"""Trains again and again under `tenure.record()`, each time with another part of the recorder made to fail.

Arguments: a folder for the recordings, or `plain` for the same training alone. Prints `name hash` for each.
"""

import errno
import sys
from importlib import import_module
from pathlib import Path

import torch
from fingerprint import digest, seed
from torch import nn

PARTS = (
    "tenure.capture.census:take_census",
    "tenure.capture.monitor:CounterReader.read_after_step",
    "tenure.capture.monitor:describe_process",
    "tenure.capture.monitor:is_due",
    "tenure.capture.monitor:is_nested_step",
    "tenure.capture.monitor:name_census_file",
    "tenure.capture.monitor:OptimizerSequence.ends_step",
    "tenure.capture.monitor:SourceCopies.add_program",
    "tenure.capture.monitor:SourceCopies.add_libraries",
    "tenure.capture.monitor:RecordingWriter.append",
    "tenure.capture.monitor:RecordingWriter.append_text",
    "tenure.capture.monitor:RecordingWriter.close",
    "tenure.capture.monitor:Spending.add",
    "tenure.capture.monitor:Monitor._install_module_hooks",
    "tenure.capture.monitor:Monitor._before_forward",
    "tenure.capture.record:_make_folder",
    "tenure.store.census_file:write_census",
    "tenure.store.recording_file:_append_whole",
)
ERRORS = {
    "bug": RuntimeError("planted"),
    "full": OSError(errno.ENOSPC, "No space left on device"),
    "memory": MemoryError(),
}


def train():
    seed()
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(6):
        loss = model(torch.randn(2, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return digest(model.state_dict()), digest(torch.get_rng_state())


def fail_with(part, error):
    """Make `part` raise; a function that puts it back."""
    module, _, name = part.partition(":")
    owner = import_module(module)
    *outer, last = name.split(".")
    for step in outer:
        owner = getattr(owner, step)
    original = getattr(owner, last)

    def failing(*args, **kwargs):
        raise error

    setattr(owner, last, failing)
    return lambda: setattr(owner, last, original)


def main():
    folder = sys.argv[1]
    for part in PARTS:
        for kind, error in ERRORS.items():
            name = f"{part.rpartition('.')[2].replace(':', '-')}-{kind}"
            if folder == "plain":
                print(name, *train())
                continue
            from tenure.capture.record import record

            restore = fail_with(part, error)
            try:
                with record(Path(folder) / name, census_at=(2, 4)):
                    result = train()
            finally:
                restore()
            print(name, *result)
    print("over")


main()
