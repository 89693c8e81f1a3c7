"""What other linters find of the zoo's leaks, beside `tenure lint`: found, and said of healthy and mended programs.

    python benchmarks/lint_rivals.py --tools FOLDER

FOLDER has torch-preflight, TorchFix, flake8-bugbear and ruff installed (`pip install --target`). A leak is found where
a tool names one of the truth's statements (at most 2 lines off), whatever it says of it. Only the rules that speak of
memory, graphs or stored objects count: TG001, TG002, TG013; all of TorchFix; B, and ruff's B.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from lint_score import SHOWN_BY_SOURCE
from zoo_score import LINES_OFF, ZOO, Truth, all_truths

LINE = re.compile(r"^(?P<file>[^\s:]+\.py):(?P<line>\d+)(?::\d+)?:? (?P<said>.*)$", re.MULTILINE)


def commands(tools: Path) -> dict[str, list[str]]:
    """Each tool's command but for the folder."""
    python = sys.executable
    return {
        "tenure lint": [python, "-m", "tenure", "lint", "--format", "github"],
        "torch-preflight": [python, "-m", "torch_preflight", "check", "-f", "github", "--select", "TG001,TG002,TG013"],
        "TorchFix": [python, str(tools / "bin" / "torchfix"), "--select", "ALL"],
        "flake8-bugbear": [python, "-m", "flake8", "--select", "B", "--max-line-length", "200"],
        "ruff": [python, "-m", "ruff", "check", "--isolated", "--select", "B", "--output-format", "concise"],
    }


def said_of(command: list[str], tools: Path, names: list[Path]) -> list[tuple[Path, int]]:
    """Files and lines that a tool names."""
    own = "tenure" in command
    environment = os.environ | ({} if own else {"PYTHONPATH": str(tools)})
    run = subprocess.run(
        [*command, *map(str, names)], capture_output=True, text=True, env=environment, cwd=ZOO, check=False
    )
    by_line = [(Path(each["file"]), int(each["line"])) for each in LINE.finditer(run.stdout)]
    as_annotations = re.findall(r"file=([^,]+),line=(\d+)", run.stdout)
    return by_line + [(Path(file), int(line)) for file, line in as_annotations]


def is_at(truth: Truth, file: Path, line: int) -> bool:
    """Whether a place is one of the truth's, of this program."""
    if truth.slug not in file.parts:
        return False
    return any(file.name == Path(place.file).name and abs(line - place.line) <= LINES_OFF for place in truth.places)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    arguments = parser.parse_args()
    truths = all_truths()
    leaky = [each for each in truths if not each.healthy]
    shown = [each for each in leaky if each.rules[0] in SHOWN_BY_SOURCE]
    print(f"{'':16} found of {len(shown)} that source can show   of all {len(leaky)}   said elsewhere")
    for name, command in commands(arguments.tools.resolve()).items():
        programs = [
            [each for each in sorted((ZOO / truth.slug).glob("*.py")) if each.name != "fixed.py"] for truth in truths
        ]
        if "tenure" not in command:  # these look at each file for itself
            programs = [[path for program in programs for path in program]]
        places = [place for program in programs for place in said_of(command, arguments.tools, program)]
        found = [truth for truth in leaky if any(is_at(truth, *place) for place in places)]
        elsewhere = sum(not any(is_at(truth, *place) for truth in leaky) for place in places)
        print(f"{name:16} {sum(each in found for each in shown):6} {len(found):29} {elsewhere:14}", flush=True)


if __name__ == "__main__":
    main()
