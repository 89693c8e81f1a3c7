"""What other linters find of the zoo's leaks, and say of packages, beside `tenure lint`; and how fast each is.

    python benchmarks/lint_rivals.py --tools FOLDER                      the zoo
    python benchmarks/lint_rivals.py --tools FOLDER --tree PACKAGE...    how often each speaks there, and its time
    python benchmarks/lint_rivals.py --tools FOLDER --said               also each line, but of what is set aside

FOLDER has torch-preflight, TorchFix, flake8-bugbear and ruff installed (`pip install --target`). Only rules that speak
of memory, graphs or stored objects count: TG001, TG002, TG013; all of TorchFix; B, and ruff's B without B905
(`zip` without `strict`), which flake8-bugbear does not have on either.

A leak is found where a tool names one of the truth's statements (at most 2 lines off), whatever it says of it, and its
cause told where tenure's code is the truth's; what is said elsewhere need not be wrong, but is about no leak. Of
healthy programs, and of a fixed.py, nothing is to be said. Of the third that is set aside only numbers are printed.
Times are of the processors, of one run each.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lint_score import SHOWN_BY_SOURCE
from lint_speed import count_lines
from zoo_score import LINES_OFF, ZOO, Truth, all_truths

from tenure.lint import lint

LINE = re.compile(r"^(?P<file>[^\s:]+\.py):(?P<line>\d+)(?::\d+)?:? (?P<said>.*)$", re.MULTILINE)
ANNOTATION = re.compile(r"file=([^,]+),line=(\d+)[^\n]*?((?:TG|TN)\d{3})")
CODE = re.compile(r"\b(?:TN|TG|TOR|B)\d{3}\b")


@dataclass(frozen=True)
class Said:
    """One line of a tool: what it calls its rule, and where."""

    file: Path
    line: int
    rule: str


def commands(tools: Path) -> dict[str, list[str]]:
    """Each tool's command but for the folder."""
    python = sys.executable
    return {
        "tenure lint": [python, "-m", "tenure", "lint", "--format", "github"],
        "torch-preflight": [python, "-m", "torch_preflight", "check", "-f", "github", "--select", "TG001,TG002,TG013"],
        "TorchFix": [python, str(tools / "bin" / "torchfix"), "--select", "ALL"],
        "flake8-bugbear": [python, "-m", "flake8", "--isolated", "--select", "B", "--max-line-length", "200"],
        "ruff": [
            python,
            "-m",
            "ruff",
            "check",
            "--isolated",
            "--no-cache",
            "--select",
            "B",
            "--ignore",
            "B905",
            "--output-format",
            "concise",
        ],
    }


def environment(tools: Path, name: str) -> dict[str, str]:
    return dict(os.environ) if name == "tenure lint" else {**os.environ, "PYTHONPATH": str(tools)}


def said_of(name: str, command: list[str], tools: Path, names: Sequence[Path]) -> list[Said]:
    """What a tool says of files or folders."""
    run = subprocess.run(
        [*command, *map(str, names)],
        capture_output=True,
        text=True,
        env=environment(tools, name),
        cwd=ZOO,
        check=False,
    )
    by_line = [
        Said(Path(each["file"]), int(each["line"]), found[0])
        for each in LINE.finditer(run.stdout)
        if (found := CODE.search(each["said"]))
    ]
    return by_line + [Said(Path(file), int(line), rule) for file, line, rule in ANNOTATION.findall(run.stdout)]


def said_by_tenure(truths: Sequence[Truth]) -> list[Said]:
    """Each program is looked at alone, and once more together with its fixed.py."""
    found: list[Said] = []
    for truth in truths:
        folder = ZOO / truth.slug
        own = [str(path) for path in sorted(folder.rglob("*.py")) if path.name != "fixed.py"]
        found += [Said(Path(each.file), each.line, each.rule) for each in lint(own).findings]
        if (folder / "fixed.py").exists():
            together = lint([str(folder)]).findings
            found += [
                Said(Path(each.file), each.line, each.rule) for each in together if each.file.endswith("fixed.py")
            ]
    return found


def is_at(truth: Truth, said: Said) -> bool:
    """Whether a line is about one of the truth's places, of this program."""
    if truth.slug not in said.file.parts:
        return False
    return any(
        said.file.name == Path(place.file).name and abs(said.line - place.line) <= LINES_OFF for place in truth.places
    )


def print_zoo(title: str, truths: Sequence[Truth], tools: Path, *, lines: bool) -> None:
    """One row per tool for a part of the zoo."""
    leaky = [each for each in truths if not each.healthy]
    shown = [each for each in leaky if each.rules[0] in SHOWN_BY_SOURCE]
    by_slug = {each.slug: each for each in truths}
    print(
        f"{title}: {len(leaky)} leaking programs, {len(shown)} of causes that source can show, "
        f"{len(truths) - len(leaky)} healthy\n{'':16} {'found of these':>14} {'of all':>7} {'elsewhere':>10}"
        f" {'in healthy':>11} {'in fixed.py':>12}"
    )
    files = [path for truth in truths for path in sorted((ZOO / truth.slug).rglob("*.py"))]
    for name, command in commands(tools).items():
        every = said_by_tenure(truths) if name == "tenure lint" else said_of(name, command, tools, files)
        told = [each for each in every if each.file.name != "fixed.py"]
        found = {truth.slug for truth in leaky if any(is_at(truth, each) for each in told)}
        owners = [next(by_slug[part] for part in each.file.parts if part in by_slug) for each in told]
        healthy = [each for each, owner in zip(told, owners, strict=True) if owner.healthy]
        elsewhere = [
            each for each, owner in zip(told, owners, strict=True) if not owner.healthy and not is_at(owner, each)
        ]
        print(
            f"{name:16} {sum(each.slug in found for each in shown):14} {len(found):7} {len(elsewhere):10}"
            f" {len(healthy):11} {len(every) - len(told):12}",
            flush=True,
        )
        if lines:
            print(*(f"  {each.rule} {(ZOO / each.file).relative_to(ZOO)}:{each.line}" for each in every), sep="\n")


def print_tree(trees: Sequence[Path], tools: Path, *, lines: bool) -> None:
    """One row per tool for folders: how often it speaks, by rule, and how fast it is."""
    number = sum(count_lines(sorted(tree.rglob("*.py"))) for tree in trees)
    print(f"{' '.join(tree.name for tree in trees)}: {number} lines")
    for name, command in commands(tools).items():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = said_of(name, command, tools, trees)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        rules = ", ".join(f"{rule} {count}" for rule, count in sorted(Counter(each.rule for each in said).items()))
        print(f"{name:16} {taken:7.1f} s {number / taken:9.0f} lines/s {len(said):6} findings: {rules}", flush=True)
        if lines:
            print(*(f"  {each.rule} {each.file}:{each.line}" for each in said), sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--tree", type=Path, nargs="+", default=[], help="packages instead of the zoo")
    parser.add_argument("--said", action="store_true", help="each line, but of what is set aside")
    arguments = parser.parse_args()
    tools = arguments.tools.resolve()
    if arguments.tree:
        print_tree([each.resolve() for each in arguments.tree], tools, lines=arguments.said)
        return
    truths = all_truths()
    print_zoo("worked with", [each for each in truths if not each.held_out], tools, lines=arguments.said)
    print_zoo("set aside", [each for each in truths if each.held_out], tools, lines=False)


if __name__ == "__main__":
    main()
