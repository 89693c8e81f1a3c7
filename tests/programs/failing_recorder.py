"""Trains again and again under `tenure.record()`, each time with another part of the recorder made to fail.

Arguments: a folder for the recordings, or `plain` for the same training alone. Prints part and hashes.
"""

import errno
import gc
import io
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

import torch
from fingerprint import digest, seed
from torch import nn

MODULES = (
    "tenure.capture.monitor",
    "tenure.capture.step_recorder",
    "tenure.capture.guarding.guard",
    "tenure.capture.steps.stopping",
    "tenure.capture.writing.profile_writing",
    "tenure.capture.steps.module_calls",
    "tenure.capture.steps.known_optimizers",
    "tenure.capture.writing.census_writing",
    "tenure.capture.writing.journal",
    "tenure.capture.counters",
    "tenure.capture.steps.next_decision",
    "tenure.capture.steps.schedule",
    "tenure.capture.steps.spending",
    "tenure.capture.steps.boundaries",
    "tenure.capture.writing.sources",
    "tenure.capture.record",
    "tenure.capture.state_calls",
    "tenure.store.recording_file",
)
CENSUS = ("tenure.capture.heap.census:take_census", "tenure.store.census_file:write_census")
KEEP = {  # what stands guard over the rest, what the program itself calls, the hooks around the guard, and the set-up
    "Monitor._make_hook", "Monitor._before_optimizer_step", "Monitor._after_optimizer_step",
    "ModuleCalls.install", "ModuleCalls.resume",
    "ModuleCalls._before_forward", "ModuleCalls._at_root_call", "Monitor.enter_root", "Monitor.stop_if_asked",
    "call_in_forked_children", "check_free", "_find_free", "_read_budget", "Stopper.check",
    "Guard.run", "Guard.is_shut", "Guard.switch_off", "Guard.say_once", "Monitor.abandon", "Monitor.close",
    "StepRecorder._make_samples", "StepRecorder.give_back_signal", "StepRecorder.mark_steps", "StepRecorder.abandon",
    "StateCalls._begin", "StateCalls._loading", "StateCalls._saving", "StateCalls.close",
    "Monitor.begin_step", "Monitor.end_step", "record", "Run.step", "Run.census",
}  # fmt: skip
ERRORS = {
    "bug": RuntimeError("planted"),
    "full": OSError(errno.ENOSPC, "No space left on device"),
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
    model.load_state_dict({name: each.clone() for name, each in model.state_dict().items()})
    torch.save(model.state_dict(), io.BytesIO())
    return digest(model.state_dict()), digest(torch.get_rng_state())


def find_parts():
    """Every function and method that the recorder's modules define, but for the guards themselves."""
    yield from CENSUS
    for module in MODULES:
        for name, item in vars(import_module(module)).items():
            if (getattr(item, "__module__", None) or "").startswith("tenure") and type(item) is FunctionType:
                if name not in KEEP:
                    yield f"{module}:{name}"
            elif isinstance(item, type) and item.__module__ == module:
                for method, value in vars(item).items():
                    if type(value) is FunctionType and method[:2] != "__" and f"{name}.{method}" not in KEEP:
                        yield f"{module}:{name}.{method}"


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
    if folder == "plain":
        print("plain", *train())
        return
    from tenure.capture.record import record

    train()
    gc.freeze()  # what the imports have left need not be looked at hundreds of times
    share, shares = int(sys.argv[2]), int(sys.argv[3])
    for number, part in list(enumerate(find_parts()))[share::shares]:
        for kind, error in ERRORS.items():
            restore = fail_with(part, error)
            try:
                with record(Path(folder) / f"{number}-{kind}", census_at=(2, 4)):
                    result = train()
            except BaseException as failure:
                result = (f"{type(failure).__name__}: {failure}",)
            finally:
                restore()
            print(f"{number}-{kind} {part}", *result)


main()
