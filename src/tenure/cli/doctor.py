"""`tenure doctor`: what this machine says about memory, and whether recording would work here.

torch is asked in a process of its own, so a broken torch cannot take the doctor along.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Any

import click

from tenure import __version__
from tenure.cli.doctor_checks import check_everything, describe_known_leaks
from tenure.cli.doctor_devices import count_devices_of_driver
from tenure.cli.doctor_programs import read_programs
from tenure.cli.doctor_settings import ALLOCATOR_VARIABLES, NO_CACHE
from tenure.report.layout import wrap

TORCH_TIMEOUT_SECONDS = 120
SMALL_STACK = 1 << 20

# Run in the other process: one JSON object on the last line, whatever torch prints before.
_ASK_TORCH = """
import json, sys, time
start = time.perf_counter()
import torch
answer = {"version": str(torch.__version__), "cuda": torch.version.cuda}
answer["import_seconds"] = time.perf_counter() - start
answer["num_devices"] = torch.cuda.device_count()
answer["has_mps"] = torch.backends.mps.is_available()
if torch.cuda.is_available():
    torch.cuda.init()
    torch.cuda.synchronize()
    answer["allocator_backend"] = torch.cuda.get_allocator_backend()
from tenure.capture.memory import memory
answer["memory"] = str(memory()).splitlines()
print("\\n" + json.dumps(answer))
"""


@dataclass(frozen=True)
class Examination:
    """What was found: versions, memory line by line, whether recording would work, advice."""

    versions: dict[str, str]
    settings: dict[str, str]
    memory: tuple[str, ...]
    recording: dict[str, str]
    advice: tuple[str, ...]
    known_leaks: tuple[str, ...] = ()


@click.command("doctor", short_help="What this machine says about memory; would recording work?")
@click.argument("programs", nargs=-1, metavar="[PROGRAM]...", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor_command(programs: tuple[Path, ...], as_json: bool) -> None:
    """Say what allocator, device, process, cgroup and system report, and whether recording works here.

    Imports torch in a process of its own (seconds, where torch is installed). Changes nothing. Programs that are
    named are read, not run: their calls are looked at for DataParallel, pinned memory and loader workers.
    """
    found = examine(programs)
    if as_json:
        click.echo(json.dumps({"format": 1, **_as_dict(found)}, indent=1))
        return
    click.echo("\n".join(describe(found, width=shutil.get_terminal_size((110, 24)).columns)))


def examine(programs: Sequence[Path] = ()) -> Examination:
    """Everything the doctor knows; takes as long as `import torch` does."""
    from tenure.capture.memory import memory

    trees = read_programs(programs)
    torch_answer, torch_trouble = ask_torch()
    walker = "native" if util.find_spec("tenure.capture.heap._heapwalk") else "plain Python"
    versions = {
        "tenure": __version__,
        "python": f"{platform.python_version()} ({platform.system()} {platform.machine()})",
        "torch": _torch_version(torch_answer, torch_trouble),
        "numpy": _version_of("numpy"),
        "census walker": walker,
    }
    recording = {
        "walker": walker,
        "start-up hook": _startup_hook(),
        "stack": _stack_limit(),
    }
    return Examination(
        versions=versions,
        settings=_allocator_settings(torch_answer),
        memory=tuple(torch_answer.get("memory", ())) or tuple(str(memory()).splitlines()),
        recording=recording,
        advice=(
            *_advice(torch_answer, torch_trouble, walker=walker),
            *check_everything(
                torch_answer,
                os.environ,
                trees,
                shared_memory_bytes=_shared_memory_bytes(),
                num_present=count_devices_of_driver(),
            ),
        ),
        known_leaks=tuple(_known_leaks(torch_answer)),
    )


def _known_leaks(answer: dict[str, Any]) -> list[str]:
    from tenure.fixing.known_patches import installed_versions
    from tenure.rules.library_patches import describe_library_patches

    devices = ["cpu"] + ["cuda"] * bool(answer.get("cuda")) + ["mps"] * bool(answer.get("has_mps"))
    of_torch = describe_known_leaks(str(answer.get("version", "")), devices, os.environ)
    return [*of_torch, *describe_library_patches(installed_versions())]


def _shared_memory_bytes() -> int | None:
    """What /dev/shm has room for; None where there is none."""
    try:
        return shutil.disk_usage("/dev/shm").total
    except OSError:
        return None


def ask_torch() -> tuple[dict[str, Any], str]:
    """What torch answers, and what went wrong ("" where nothing did)."""
    if util.find_spec("torch") is None:
        return {}, "not installed"
    try:
        process = subprocess.run(
            [sys.executable, "-c", _ASK_TORCH],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TORCH_TIMEOUT_SECONDS,
            env={**os.environ, "TENURE": "0"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {}, f"did not answer ({error.__class__.__name__})"
    if process.returncode:
        last = (process.stderr.strip().splitlines() or ["no message"])[-1]
        return {}, f"cannot be imported: {last}"
    try:
        answer = json.loads(process.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return {}, "answered something unreadable"
    return answer, ""


def _torch_version(answer: dict[str, Any], trouble: str) -> str:
    if trouble:
        return trouble
    kind = f"CUDA {answer['cuda']}" if answer["cuda"] else "CPU build"
    return f"{answer['version']} ({kind}, import took {answer['import_seconds']:.1f} s)"


def _version_of(package: str) -> str:
    from importlib import metadata  # it loads the email package, which no other verb needs

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _allocator_settings(answer: dict[str, Any]) -> dict[str, str]:
    settings = {name: os.environ[name] for name in (*ALLOCATOR_VARIABLES, NO_CACHE) if name in os.environ}
    if "allocator_backend" in answer:
        settings["backend"] = answer["allocator_backend"]
    return settings


def _startup_hook() -> str:
    """Whether programs started by other programs can be reached through PYTHONPATH."""
    if sys.flags.ignore_environment or sys.flags.isolated:
        return "no: this Python ignores PYTHONPATH"
    if sys.flags.no_site:
        return "no: this Python skips site"
    return "works through PYTHONPATH"


def _stack_limit() -> str:
    limit = stack_bytes()
    if limit is None:
        return "unlimited or unknown"
    return f"{limit // 1024:,} KiB"


def stack_bytes() -> int | None:
    """The main thread's stack limit; None where there is none or the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    return None if soft == resource.RLIM_INFINITY else soft


def _advice(answer: dict[str, Any], trouble: str, *, walker: str) -> list[str]:
    advice = []
    if trouble == "not installed":
        advice.append("torch is not installed beside this Tenure; install Tenure where your torch is")
    elif trouble:
        advice.append(f"torch {trouble}; mend that before recording")
    if walker != "native":
        advice.append("the census walks in plain Python: same results, slower; a C compiler at install helps")
    limit = stack_bytes()
    if limit is not None and limit < SMALL_STACK:
        advice.append(f"the stack is limited to {limit // 1024:,} KiB: autograd graphs are walked less deeply")
    if os.environ.get("TENURE") == "0":
        advice.append("TENURE=0 is set: recording is switched off")
    if answer and not answer["cuda"]:
        advice.append("this torch has no CUDA: findings come from CPU tensors, device levels are not shown")
    return advice


def _as_dict(found: Examination) -> dict[str, Any]:
    return {
        "versions": found.versions,
        "settings": found.settings,
        "memory": list(found.memory),
        "recording": found.recording,
        "advice": list(found.advice),
        "known_leaks": list(found.known_leaks),
    }


def describe(found: Examination, *, width: int = 110) -> list[str]:
    """The examination as lines for a terminal of so many columns."""
    settings = _pairs(found.settings, width=width) or ["  none set: the defaults hold"]
    advice = [line for text in found.advice for line in wrap(text, width=width, first="  ", rest="    ")]
    lines = ["versions", *_pairs(found.versions, width=width)]
    lines += ["", "memory", *(line for text in found.memory for line in _wrap_labelled(text, width=width))]
    lines += ["", "allocator settings", *settings]
    lines += ["", "recording", *_pairs(found.recording, width=width)]
    lines += ["", "advice", *(advice or ["  nothing to mend"])]
    if found.known_leaks:
        known = [line for text in found.known_leaks for line in wrap(text, width=width, first="  ", rest="    ")]
        lines += ["", "known leaks of this torch and these libraries", *known]
    return lines


def _wrap_labelled(text: str, *, width: int) -> list[str]:
    """A line `label   text`, whose further lines begin below the text."""
    label = re.match(r"\S+ {2,}", text)
    return wrap(text, width=width, first="  ", rest=" " * (2 + (label.end() if label else 2)))


def _pairs(values: dict[str, str], *, width: int) -> list[str]:
    room = max((len(name) for name in values), default=0)
    rest = " " * (room + 4)
    return [
        line
        for name, value in values.items()
        for line in wrap(f"{name.ljust(room)}  {value}", width=width, first="  ", rest=rest)
    ]
