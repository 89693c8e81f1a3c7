"""How fast `tenure lint` reads source: lines per second of one core, on trees that are at hand.

    python benchmarks/lint_speed.py TREE...                 each tree alone
    python benchmarks/lint_speed.py --torch-share 0.1 TREE  with files that do not name torch, so that a tenth names it
    python benchmarks/lint_speed.py --against "torchfix --select ALL" TREE   the same files, in the same run

Times are of the process's own clock (user and system), of the best of three runs, imports included; memory is the
largest resident set of any of them. Imported modules are compiled by a run before these, as an installation has them.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path


def count_lines(files: list[Path]) -> int:
    """Lines of all files."""
    return sum(path.read_bytes().count(b"\n") for path in files)


def names_torch(path: Path) -> bool:
    return b"torch" in path.read_bytes()


def cost(command: list[str], runs: int) -> tuple[float, int]:
    """CPU seconds of the fastest of some runs of a command, and the most memory that one of them held, in MiB."""
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        found = [_cost_once(command, environment) for _ in range(runs + 1)][1:]
    return min(each for each, _ in found), max(each for _, each in found)


def _cost_once(command: list[str], environment: dict[str, str]) -> tuple[float, int]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss >> 10


def mixed_tree(tree: Path, torch_share: float, folder: Path) -> list[Path]:
    """A folder of links to the tree's files, with files of the standard library until the torch files hold so much."""
    torch_files = [path for path in tree.rglob("*.py") if names_torch(path)]
    wanted = count_lines(torch_files) / torch_share
    others = [path for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")) if not names_torch(path)]
    lines, chosen = count_lines(torch_files), list(torch_files)
    number = 0
    while lines < wanted:
        path = others[number % len(others)]
        chosen.append(path)
        lines += path.read_bytes().count(b"\n")
        number += 1
    for number, path in enumerate(chosen):
        (folder / f"f{number:06}.py").symlink_to(path)
    return sorted(folder.glob("*.py"))


def report(name: str, files: list[Path], arguments: argparse.Namespace, target: str) -> None:
    """One line: what was read, and how fast by whom."""
    lines = count_lines(files)
    torch_lines = count_lines([path for path in files if names_torch(path)])
    own, peak = cost([sys.executable, "-m", "tenure", "lint", target], arguments.runs)
    said = f"{name}: {lines} lines, {torch_lines / lines:.0%} in files that name torch: "
    said += f"{own:.1f} s, {lines / own:.0f} lines/s, {peak} MiB"
    if arguments.against:
        other, _ = cost([*shlex.split(arguments.against), target], arguments.runs)
        said += f"; {arguments.against.split()[0]}: {other:.1f} s, {other / own:.1f} x"
    print(said, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--torch-share", type=float, help="fill up with files that do not name torch")
    parser.add_argument("--against", help="a command that takes the same folder")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    for tree in arguments.trees:
        if arguments.torch_share:
            with tempfile.TemporaryDirectory() as folder:
                files = mixed_tree(tree, arguments.torch_share, Path(folder))
                report(tree.name, files, arguments, folder)
        else:
            report(tree.name, sorted(tree.rglob("*.py")), arguments, str(tree))


if __name__ == "__main__":
    main()
