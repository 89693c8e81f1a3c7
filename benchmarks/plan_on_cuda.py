"""What `tenure plan` predicts on the host against what the same steps take on a CUDA device, by torch's own counters.

    python benchmarks/plan_on_cuda.py [--only NAME ...] [--jobs N] [--timeout SECONDS] [--json FILE] [--no-frames]

Each program of plan_programs/ is planned with no device in sight, planned with the device in sight, and run on the
device for the same steps, each in a process of its own. The run is measured from the first step's end to where the
fourth step calls its model, which is what a plan watches, and parts of a step are told apart by the first call of a
module, `torch.autograd.backward` and `optimizer.step`. Two more steps follow from an emptied cache: what is reserved
then is without the remains of the first step, as a plan plays it.

In the table the workspaces of cuBLAS are taken off what was measured, for a plan tells them beside its peak; ratios are
predicted by measured. The JSON has all counters, and what was in use at each part's peak by line and operation
(`frames`; --no-frames leaves it out). Without a device the predictions stand alone.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import runpy
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "plan_programs"
WAYS = ("plan", "truth", "device_plan")
SLOW = ("lstm_ctc",)
"""Begun first, so that the others do not wait for it at the end."""
MIB = 1 << 20
COUNTERS = ("allocated_bytes", "active_bytes", "requested_bytes", "reserved_bytes")
WATCHED = (2, 3)
LATER = (4, 5)
"""Steps that begin with an emptied cache."""
BETWEEN, FORWARD, BACKWARD, OPTIMIZER = PARTS = ("between steps", "forward", "backward", "optimizer's step")
"""As `tenure plan` calls them."""
MOST_GROUPS = 60
ROUNDING = 512
_ALLOCATOR = re.compile(
    r"c10::|CUDACachingAllocator|torch::(unwind|CapturedTraceback)|gather|at::detail::|::empty(_|$|\()"
)
_OPERATION = re.compile(r"at::_ops::(\w+)::|_ZN2at4_ops\d+([A-Za-z_]\w*?)(?=\d+(?:call|redispatch))")
_NODE = re.compile(r"(\w+Backward\w*)::apply|\d(\w+Backward\d*)5apply")
_MAKES = ("empty", "new_empty", "resize", "zeros", "new_zeros", "full", "as_strided")
"""Operations that others call for their results."""
_TELLING = re.compile(r"cudnn|cublas|flash|efficient_attention|foreach|miopen|cub::|native", re.IGNORECASE)


# One run on the device, in a process of its own.


class Meter:
    """Peaks of each part of the watched steps, by torch's counters, of a program that runs in this process."""

    def __init__(self, write: Callable[[dict[str, Any]], None], *, frames: str | None) -> None:
        import torch

        self.torch = torch
        self.is_there = torch.cuda.is_available()
        self.steps = 0
        self.part = BETWEEN
        self.since = time.time()
        self.peaks: dict[str, dict[str, int]] = {}
        self.later: dict[str, int] = {}
        self.intervals: list[tuple[str, float, float]] = []
        self.found: dict[str, Any] = {"steps": 0, "num_backward": 0}
        self._write = write
        self._frames = frames
        self._known: list[int] = []
        self._entry: Any = None
        self._is_over = False

    def begin(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        if self.is_there:
            self.torch.cuda.init()
        if self.is_there and self._frames is not None:
            try:
                self.torch.cuda.memory._record_memory_history("all", context="alloc", stacks=self._frames)
            except Exception as error:
                self.found["frames_error"] = f"{type(error).__name__}: {error}"
                self._frames = None
        register_optimizer_step_pre_hook(lambda *_: self.pass_to(OPTIMIZER))
        register_optimizer_step_post_hook(lambda optimizer, *_: self.after_optimizer(optimizer))
        original = self.torch.autograd.backward

        def backward(*args: Any, **named: Any) -> Any:
            self.pass_to(BACKWARD)
            try:
                return original(*args, **named)
            finally:
                self.pass_to(BETWEEN)

        self.torch.autograd.backward = backward
        self._await_entry()

    def _await_entry(self) -> None:
        """Of the next call of a module; a hook that stays would change how modules are called."""
        if self._entry is None:
            from torch.nn.modules.module import register_module_forward_pre_hook

            self._entry = register_module_forward_pre_hook(lambda *_: self.enter())

    def enter(self) -> None:
        self._entry.remove()
        self._entry = None
        if self.steps == WATCHED[1] and not self.later and "at_end" not in self.found:
            self.pass_to(FORWARD)
            self.finish_watched()
        elif self.steps == LATER[1]:
            self.pass_to(FORWARD)
            self.finish()
        else:
            self.pass_to(FORWARD)

    def after_optimizer(self, optimizer: Any) -> None:
        self.pass_to(BETWEEN)
        number = id(optimizer)
        is_new = number not in self._known
        if is_new:
            self._known.append(number)
        ends = len(self._known) == 1 or (not is_new and number == self._known[-1])
        self.steps += ends
        if ends and self.steps == WATCHED[0] - 1:
            self.found["at_begin"], self.since = self.read(), time.time()
            self.reset()

    def pass_to(self, part: str) -> None:
        """A part has ended and another begins; nested ones, as of backward within a step, stay what they are."""
        if self.steps >= WATCHED[0] - 1:
            counters, now = self.read(), time.time()
            told = {name: counters.get(f"{name}.peak", 0) for name in COUNTERS}
            if self.is_watched:
                self.peaks[self.part] = _most(self.peaks.get(self.part, {}), told)
                self.intervals.append((self.part, self.since, now))
                if part == BACKWARD:
                    self.found["num_backward"] += 1
                    self.found["at_backward"] = counters
                elif part == FORWARD:
                    self.found["at_forward"] = counters
            else:
                self.later = _most(self.later, told)
            self.reset()
            self.since = now
        self.part = part
        if part == BETWEEN:
            self._await_entry()

    @property
    def is_watched(self) -> bool:
        return "at_end" not in self.found

    def finish_watched(self) -> None:
        self.found |= {"at_end": self.read(), "parts": self.peaks, "steps": self.steps}
        self.found["peak"] = {name: max(each[name] for each in self.peaks.values()) for name in COUNTERS}
        self._write(self.found)
        if self.is_there:
            self.torch.cuda.synchronize()
            self.torch.cuda.empty_cache()
            self.reset()

    def finish(self) -> None:
        """Also ends the program."""
        if self._is_over:
            return
        self._is_over = True
        self.found["later"] = self.later
        if self.is_there:
            self.found |= self._constants()
        self._write(self.found)
        if self.is_there and self._frames is not None:
            try:
                trace = self.torch.cuda.memory._snapshot()["device_traces"][self.torch.cuda.current_device()]
                self.found["frames"] = at_peaks(trace, self.intervals, self.found["program"])
            except Exception as error:
                self.found["frames_error"] = f"{type(error).__name__}: {error}"
            self._write(self.found)
        raise SystemExit(0)

    def _constants(self) -> dict[str, Any]:
        cuda, torch = self.torch.cuda, self.torch
        cuda.synchronize()
        before = cuda.memory_allocated()
        torch._C._cuda_clearCublasWorkspaces()
        free, total = cuda.mem_get_info()
        return {
            "workspace_bytes": before - cuda.memory_allocated(),
            "device": cuda.get_device_name(),
            "torch": torch.__version__,
            "cudnn": torch.backends.cudnn.version(),
            "used_by_all_bytes": total - free,
        }

    def read(self) -> dict[str, int]:
        if not self.is_there:
            return {}
        stats = self.torch.cuda.memory_stats()
        return {
            f"{name}.{kind}": stats.get(f"{name}.all.{kind}", 0) for name in COUNTERS for kind in ("current", "peak")
        }

    def reset(self) -> None:
        if self.is_there:
            self.torch.cuda.reset_peak_memory_stats()


def _most(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    return {name: max(first.get(name, 0), size) for name, size in second.items()}


def run_measured(program: str, out: Path, *, frames: str | None) -> None:
    """Run the program in this process, and write what was found when its steps are over."""

    def write(found: dict[str, Any]) -> None:
        out.with_suffix(".new").write_text(json.dumps(found))
        out.with_suffix(".new").replace(out)

    meter = Meter(write, frames=frames)
    meter.found["program"] = program
    meter.begin()
    sys.argv = [program]
    runpy.run_path(program, run_name="__main__")


def at_peaks(trace: list[dict[str, Any]], intervals: list[tuple[str, float, float]], program: str) -> dict[str, Any]:
    """What was in use at each part's peak, by line and operation, from a history of the allocator since its begin."""
    sizes: dict[int, int] = {}
    total, at = 0, 0
    most: dict[str, tuple[int, int]] = {}
    for number, event in enumerate(trace):
        total += _apply(event, sizes, number)
        now = event.get("time_us", 0) / 1e6
        while at < len(intervals) and now > intervals[at][2]:
            at += 1
        if at < len(intervals) and now >= intervals[at][1]:
            part = intervals[at][0]
            if total > most.get(part, (0, -1))[0]:
                most[part] = total, number
    wanted = {number: part for part, (_, number) in most.items()}
    found: dict[str, Any] = {}
    births: dict[int, int] = {}
    for number, event in enumerate(trace):
        _apply(event, births, number, births=True)
        if number in wanted:
            found[wanted[number]] = _grouped(trace, births.values(), most[wanted[number]][0], program)
    return found


def _apply(event: dict[str, Any], held: dict[int, int], number: int, *, births: bool = False) -> int:
    """Bytes that the event adds. `held` has the size of each address in use, or with `births` the event it came by."""
    address = event.get("addr", 0)
    if event["action"] == "alloc":
        size = -(-event["size"] // ROUNDING) * ROUNDING
        held[address] = number if births else size
        return size
    if event["action"] == "free_completed":
        gone = held.pop(address, 0)
        return 0 if births else -gone
    return 0


def _grouped(trace: list[dict[str, Any]], births: Iterable[int], total: int, program: str) -> dict[str, Any]:
    bytes_of: Counter[tuple[str, str, str, str, str]] = Counter()
    number_of: Counter[tuple[str, str, str, str, str]] = Counter()
    for birth in births:
        key = _place(trace[birth].get("frames", []), program)
        bytes_of[key] += -(-trace[birth]["size"] // ROUNDING) * ROUNDING
        number_of[key] += 1
    names = ("line", "python", "operation", "node", "inner")
    groups = [
        dict(zip(names, key, strict=True)) | {"bytes": size, "number": number_of[key]}
        for key, size in bytes_of.most_common(MOST_GROUPS)
    ]
    return {"bytes": total, "groups": groups}


def _place(frames: list[dict[str, Any]], program: str) -> tuple[str, str, str, str, str]:
    """The program's line, the innermost line of Python, the operation, the node of the graph, the innermost name."""
    line = python = operation = node = inner = ""
    for frame in frames:
        file, name = str(frame["filename"]), str(frame["name"])
        if file.endswith(".py"):
            where = f"{Path(file).name}:{frame['line']} {name}"
            python = python or where
            if file == program:
                line = where
                break
            continue
        if (not operation or operation.startswith(_MAKES)) and (found := _OPERATION.search(name)):
            operation = found[1] or found[2]
        if not node and (found := _NODE.search(name)):
            node = found[1] or found[2]
        if not inner and _TELLING.search(name) and not _ALLOCATOR.search(name):
            inner = name[:100]
    return line, python, operation, node, inner


def measure_context() -> dict[str, int]:
    """What a process takes of the device beside torch's allocator: alone on it, before and after a few kernels."""
    import pynvml

    pynvml.nvmlInit()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    handle = (
        pynvml.nvmlDeviceGetHandleByIndex(int(visible))
        if visible.isdigit()
        else pynvml.nvmlDeviceGetHandleByUUID(visible)
    )

    def used() -> int:
        return int(pynvml.nvmlDeviceGetMemoryInfo(handle).used)

    import torch

    found, before = {}, used()

    def note(name: str) -> None:
        torch.cuda.synchronize()
        found[name] = used() - before - torch.cuda.memory_reserved()

    ones = torch.ones(64, 64, device="cuda", requires_grad=True)
    note("context")
    (ones @ ones).sum().backward()
    note("with cuBLAS")
    torch.nn.functional.conv2d(torch.ones(8, 16, 32, 32, device="cuda"), torch.ones(16, 16, 3, 3, device="cuda"))
    note("with cuDNN")
    half = torch.ones(2, 4, 64, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    torch.nn.functional.scaled_dot_product_attention(half, half, half, is_causal=True).sum().backward()
    note("with attention")
    return found


# All programs, from outside.


def environment(jobs: int, *, sees_device: bool) -> dict[str, str]:
    found = dict(os.environ)
    found["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE.parent / "src"), found.get("PYTHONPATH", "")]))
    found["TORCH_SYMBOLIZE_MODE"] = "dladdr"
    found["TOKENIZERS_PARALLELISM"] = "false"
    if jobs > 1:
        found["OMP_NUM_THREADS"] = str(max(1, len(os.sched_getaffinity(0)) // jobs))
    if not sees_device:
        found["CUDA_VISIBLE_DEVICES"] = ""
    return found


def call(command: list[str], folder: Path, variables: dict[str, str], seconds: float) -> tuple[int, str, str]:
    """Exit code and outputs; what takes too long is asked to end, then ended."""
    with subprocess.Popen(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            out, err = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            child.terminate()
            try:
                out, err = child.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                child.kill()
                out, err = child.communicate()
            return -1, out, f"took more than {seconds:.0f} s"
    return child.returncode, out, err


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["?"])[-1][:200]


def find(name: str, way: str, work: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """What one way says of one program; `error` where it says nothing."""
    folder = work / f"{name}-{way}"
    folder.mkdir()
    program = Path(shutil.copy(PROGRAMS / f"{name}.py", folder))
    began = time.monotonic()
    variables = environment(asked.jobs, sees_device=way != "plan")
    python = [sys.executable, "-W", "ignore"]
    if way == "truth":
        out = work / f"{name}-{way}.json"
        command = [*python, __file__, "--measure", str(program), str(out)]
        code, _, err = call([*command, *(["--no-frames"] if asked.no_frames else [])], folder, variables, asked.timeout)
        found = json.loads(out.read_text()) if out.exists() else {"error": _last(err) if code else "too few steps"}
        if code and "error" not in found:
            found["failed_later"] = _last(err)
    else:
        code, text, err = call(
            [*python, "-m", "tenure", "plan", "--json", program.name], folder, variables, asked.timeout
        )
        try:
            found = json.loads(text)
        except ValueError:
            found = {}
        if code or "peak_active_bytes" not in found:
            found = {"error": _last(err), "known": found}
    found["seconds"] = round(time.monotonic() - began, 1)
    return found


def row_of(name: str, found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What is compared, beside all that was found."""
    plan, truth, device = (found.get(way, {"error": "not tried"}) for way in WAYS)
    row: dict[str, Any] = {"name": name, **found}
    if "error" not in plan:
        row["predicted"] = {
            "in use": plan["peak_active_bytes"],
            "reserved": plan["peak_reserved_bytes"],
            **plan["peak_by_part"],
        }
    if "error" not in truth and truth["peak"]["allocated_bytes"]:
        workspaces = truth.get("workspace_bytes", 0)
        row["measured"] = {
            "in use": truth["peak"]["allocated_bytes"] - workspaces,
            "reserved": truth["peak"]["reserved_bytes"] - workspaces,
            **{part: each["allocated_bytes"] - workspaces for part, each in truth["parts"].items()},
        }
        if truth.get("later"):
            row["measured"]["reserved, from an emptied cache"] = truth["later"]["reserved_bytes"] - workspaces
    if "predicted" in row and "measured" in row:
        row["ratios"] = {
            what: round(row["predicted"]["reserved" if what.startswith("reserved") else what] / size, 4)
            for what, size in row["measured"].items()
            if size and (what in row["predicted"] or what.startswith("reserved"))
        }
    if "error" not in device and "measured" in row:
        row["ratios of the device's plan"] = {
            "in use": round(device["peak_active_bytes"] / row["measured"]["in use"], 4),
            "reserved": round(device["peak_reserved_bytes"] / row["measured"]["reserved"], 4),
        }
    return row


def _mib(size: int | None) -> str:
    return "-" if size is None else f"{size / MIB:.1f}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


HEADINGS = ("program", "in use", "true", "ratio", "reserved", "true", "ratio", "emptied", "ratio", "on dev.", "worksp.")
WIDTHS = (16, 9, 9, 7, 10, 9, 7, 9, 7, 9, 9)


def line_of(row: dict[str, Any]) -> str:
    name = f"{row['name']:<{WIDTHS[0]}}"
    if "predicted" not in row:
        return f"{name} no plan: {row.get('plan', {}).get('error', 'not tried')}"
    predicted, measured, ratios = row["predicted"], row.get("measured", {}), row.get("ratios", {})
    emptied = "reserved, from an emptied cache"
    cells = [
        _mib(predicted["in use"]),
        _mib(measured.get("in use")),
        _ratio(ratios.get("in use")),
        _mib(predicted["reserved"]),
        _mib(measured.get("reserved")),
        _ratio(ratios.get("reserved")),
        _mib(measured.get(emptied)),
        _ratio(ratios.get(emptied)),
        _ratio(row.get("ratios of the device's plan", {}).get("in use")),
        _mib(row.get("truth", {}).get("workspace_bytes")),
    ]
    text = name + "".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS[1:], strict=True))
    failed = [f"{way}: {row[way]['error']}" for way in WAYS[1:] if "error" in row.get(way, {})]
    return "  ".join([text, *failed])


def parts_of(row: dict[str, Any]) -> str:
    told = [
        f"{part} {_mib(row['predicted'].get(part))}/{_mib(row['measured'].get(part))}"
        for part in PARTS
        if part in row["measured"]
    ]
    return f"    {row['name']:<{WIDTHS[0]}} {' · '.join(told)}; predicted peak in {row['plan']['peak']['part']}"


def is_there(name: str) -> bool:
    return not name.startswith("hf_") or importlib.util.find_spec("transformers") is not None


def has_device() -> bool:
    code = "import torch; print(torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "True"


def compare(asked: argparse.Namespace) -> None:
    names = asked.only or sorted(path.stem for path in PROGRAMS.glob("*.py"))
    for name in names:
        if not is_there(name):
            print(f"{name:<{WIDTHS[0]}} left out: this Python has no transformers")
    names = [name for name in names if is_there(name)]
    sees = has_device()
    context: dict[str, Any] = {}
    if sees:
        command = [sys.executable, __file__, "--context"]
        code, out, err = call(command, HERE, environment(1, sees_device=True), asked.timeout)
        context = json.loads(out) if code == 0 else {"error": _last(err)}
    else:
        print("needs a CUDA device: what is true, and the plan on the device; predictions alone follow")
    work = Path(tempfile.mkdtemp(prefix="plan-on-cuda-")).resolve()
    rows: list[dict[str, Any]] = []
    try:
        with ThreadPoolExecutor(asked.jobs) as pool:
            ways = WAYS if sees else WAYS[:1]
            jobs: dict[str, dict[str, Future[dict[str, Any]]]] = defaultdict(dict)
            for way in ways:
                for name in sorted(names, key=SLOW.__contains__, reverse=True):
                    jobs[name][way] = pool.submit(find, name, way, work, asked)
            print(
                f"{HEADINGS[0]:<{WIDTHS[0]}}"
                + "".join(f"{h:>{w}}" for h, w in zip(HEADINGS[1:], WIDTHS[1:], strict=True))
            )
            for name in names:
                rows.append(row_of(name, {way: job.result() for way, job in jobs[name].items()}))
                print(line_of(rows[-1]), flush=True)
                if asked.json:
                    asked.json.write_text(json.dumps({"context": context, "programs": rows}, indent=1) + "\n")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if sees:
        told = ", ".join(f"{name} {_mib(size) if isinstance(size, int) else size}" for name, size in context.items())
        print(f"beside torch's allocator, MiB: {told}")
        compared = [row for row in rows if "ratios" in row]
        print("MiB by part, predicted/true:")
        for row in compared:
            print(parts_of(row))
        for what in ("in use", "reserved", "reserved, from an emptied cache"):
            ratios = sorted(row["ratios"][what] for row in compared if what in row["ratios"])
            if ratios:
                near = sum(abs(ratio - 1) <= 0.05 for ratio in ratios)
                middle = statistics.median(ratios)
                print(
                    f"{what}: predicted/true {ratios[0]:.3f} to {ratios[-1]:.3f}, median {middle:.3f}; "
                    f"within 5% {near} of {len(ratios)}"
                )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=120.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--no-frames", action="store_true")
    parser.add_argument("--measure", nargs=2, metavar=("PROGRAM", "OUT"), help=argparse.SUPPRESS)
    parser.add_argument("--context", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        program, out = asked.measure
        run_measured(program, Path(out), frames=None if asked.no_frames else "all")
    elif asked.context:
        print(json.dumps(measure_context()))
    else:
        compare(asked)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
