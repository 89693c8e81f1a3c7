"""Trains twelve steps while something befalls its recording, or itself in the middle of writing a census.

Argument: what happens, a name from HARMS or DEATHS; without one nothing does. The last line is a hash of the result.
"""

import os
import resource
import shutil
import signal
import sys
from pathlib import Path

recording = Path(os.environ.get("TENURE_RECORDING", "/nonexistent"))
what = sys.argv[1] if len(sys.argv) > 1 else ""


if what == "no-numpy":
    sys.modules["numpy"] = None

import torch  # noqa: E402


def shrink_files():
    """From now on no file of this process may grow beyond what the recording's rows are long, and a little."""
    rows = recording / "rows-000001.jsonl"
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (rows.stat().st_size + 10, hard))


def fill_disk():
    """To the last byte; only where the recording has a small disk of its own."""
    with (recording.parent / "filler").open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass


def fill_disk_before_a_row():
    fill_disk()
    for rows in recording.glob("*.jsonl"):
        with rows.open("ab") as file:  # what its last page has left would take a few rows more
            file.write(b"\n" * (-rows.stat().st_size % 4096))


def make_unwritable():
    recording.chmod(0o555)
    for file in recording.iterdir():
        file.chmod(0o555 if file.is_dir() else 0o444)
    if os.getuid() == 0:
        os.setuid(65534)


def replace_by_file():
    shutil.rmtree(recording)
    recording.write_text("mine")


def make_raise(error):
    def handler(number, frame):
        raise error

    signal.signal(signal.SIGUSR1, handler)
    os.kill(os.getpid(), signal.SIGUSR1)


def interrupt():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is started with it ignored
    os.kill(os.getpid(), signal.SIGINT)


HARMS = {
    "files-limited": shrink_files,
    "disk-full-at-census": fill_disk,
    "disk-full-at-row": fill_disk_before_a_row,
    "folder-removed": lambda: shutil.rmtree(recording),
    "folder-replaced": replace_by_file,
    "folder-unwritable": make_unwritable,
}
HANDED_OVER = {"disk-full-at-census": float("inf"), "disk-full-at-row": 0}
"""Seconds between two times that rows are handed over."""
DEATHS = {
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "terminated": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "interrupted": interrupt,
    "gone": lambda: os._exit(4),
    "left": lambda: make_raise(SystemExit(3)),
    "failed": lambda: make_raise(TimeoutError("theirs")),
}


def die_in_the_third_census():
    import numpy

    write, calls = numpy.savez, []

    def savez(file, **columns):
        calls.append(file)
        if len(calls) == 3:
            file.write(b"half a census")
            file.flush()
            DEATHS[what]()
        write(file, **columns)

    numpy.savez = savez


def hand_over_rows(every):
    """At once, or never: a second that passes would decide whether the rows or the next census find the harm."""
    from tenure.store import recording_file

    recording_file.FLUSH_SECONDS = every
    recording_file.RecordingWriter.flush_if_due = lambda writer, *, seconds=0: None


if what in HANDED_OVER and recording.is_dir():
    hand_over_rows(HANDED_OVER[what])
if what in DEATHS:
    die_in_the_third_census()
torch.manual_seed(0)
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(1, 13):
    loss = model(torch.randn(2, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    print("loss", step, loss.item().hex(), flush=True)
    if step == 6 and what in HARMS and recording.is_dir():
        HARMS[what]()
    optimizer.step()
print("weights", [value.hex() for value in model.weight.flatten().tolist()])
