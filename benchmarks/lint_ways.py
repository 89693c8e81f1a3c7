"""How far `tenure lint` follows what a program does: small programs made of a way in which a value arrives, a way in
which it is kept, and a loop.

    python benchmarks/lint_ways.py              a line per way that is not always told, and the sums
    python benchmarks/lint_ways.py --missed     also what was missed and told wrongly

The ways of arriving and the loops are in lint_ways.txt, those of keeping in ways_of_keeping.txt, and those that one
rule has alone in lint_causes.txt. Each way is met with a few of both others. Told is a leak where a finding stands at a
line marked `# <-`; each program of three ways is made once more so that it keeps a number, of which nothing is to be
said. Tensors without a graph that a function keeps in its own loop are left out: they are taken for its result.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ways_of_keeping import MARK, read_ways

from tenure.lint import lint_sources
from tenure.model.source import SourceFile

HERE = Path(__file__).parent
TRAIN = """\
def train(net, x):
    loss = net(x).pow(2).mean()
    loss.backward()
    return loss
"""
SOURCES = {"outputs": "net(x)", "loss": "train(net, x)", "features": "net(x).detach()"}
NUMBERS = {
    "outputs": "net(x).mean().item()",
    "loss": "float(train(net, x))",
    "features": "net(x).detach().sum().item()",
}
"""What is kept instead in the healthy program."""
IN_LINE = (
    *("for", "while", "while true over an iterator", "epochs and batches", "top of the file", "under the name guard"),
    *("generator that is gone through", "coroutine that is sent batches", "worker thread with a queue"),
)
"""Loops that keep in their own function, where tensors without a graph are taken for its result."""
FIRST_ARRIVALS = ("direct", "helper's return", "attribute that a method sets")
FIRST_KEEPS = ("global list", "attribute list", "dict by words few")
FIRST_LOOPS = ("for", "function called by a loop", "trainer's method")


@dataclass(frozen=True)
class Part:
    """One way of one dimension: `definitions` of the file, and what is put into the next part."""

    name: str
    definitions: str
    before: str
    code: str


@dataclass(frozen=True)
class Made:
    """A program of three ways; `kind` says what is kept."""

    kind: str
    arrival: Part
    keep: Part
    loop: Part

    def text(self, source: str) -> str:
        """The program with its marks."""
        arrival, keep = self.arrival, self.keep
        own = TRAIN if self.kind == "loss" else ""
        step = f"{declared(keep, self.loop)}{arrival.code.rstrip()}\n{keep.code.rstrip()}"
        rest = filled(self.loop.code, {"BEFORE": keep.before, "STEP": step})
        text = f"import torch\nfrom torch import nn\n{own}{arrival.definitions}\n{keep.definitions}\n{rest}"
        return text.replace("SOURCE", source).replace("MADE", "nn.Linear(8, 8)")

    def is_told(self) -> bool:
        """Whether a finding stands at a marked line."""
        text = self.text(SOURCES[self.kind])
        marked = {number for number, line in enumerate(text.splitlines(), start=1) if line.endswith(MARK)}
        return any(marked.intersection(range(line, end + 1)) for line, end, _ in findings(text))

    def told_wrongly(self) -> list[str]:
        """What is said of the program that keeps a number, but what is said of one that keeps a constant, too: some
        ways of keeping make what they keep."""
        constant = Made(self.kind, DIRECT, self.keep, self.loop).text("0")
        always = {said.partition(": ")[2] for _, _, said in findings(constant)}
        found = findings(self.text(NUMBERS[self.kind]))
        return [said for _, _, said in found if said.partition(": ")[2] not in always]


def declared(keep: Part, loop: Part) -> str:
    """`global kept`, or `nonlocal kept`, where the step is a function and binds what is prepared around it."""
    lines = loop.code.splitlines()
    if loop.name in IN_LINE:
        return ""
    around = "global" if "BEFORE" in lines else "nonlocal"
    both = bound(keep.before) & bound(keep.code)
    return f"{around} {', '.join(sorted(both))}\n" if both else ""


def bound(code: str) -> set[str]:
    """Variables that a text binds."""
    return {
        node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


NOTHING = Part("", "", "", "pass")
DIRECT = Part("direct", "", "", "value = SOURCE")


def findings(text: str) -> list[tuple[int, int, str]]:
    found, failures = lint_sources([SourceFile("train.py", text.replace(MARK, ""))])
    assert not failures, failures
    return [(each.line, each.end_line, f"{each.line}: {each.rule} {each.message}") for each in found]


def filled(text: str, parts: dict[str, str]) -> str:
    """A text whose lines of one upper-case word are replaced by a part, indented as they are."""

    def part(match: re.Match[str]) -> str:
        lines = parts[match[2]].strip("\n").splitlines()
        return "".join(f"{match[1]}{line}\n" if line.strip() else "\n" for line in lines)

    return re.sub(rf"(?m)^( *)({'|'.join(parts)})\n", part, text + "\n")


def read_arrivals_and_loops() -> tuple[list[Part], list[Part]]:
    _, arrivals, loops = (HERE / "lint_ways.txt").read_text().split("\n== ")
    return (
        [Part(name, *split_at(code, "-- step\n")) for name, code in named_parts(arrivals)],
        [Part(name, "", "", code) for name, code in named_parts(loops)],
    )


def split_at(code: str, mark: str) -> tuple[str, str, str]:
    definitions, _, step = code.rpartition(mark)
    return definitions, "", step


def named_parts(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"(?m)^\[", text)[1:]:
        name, _, code = part.partition("]\n")
        yield name, code.strip("\n")


def read_keeps(name: str = "ways_of_keeping.txt") -> list[Part]:
    ways = read_ways((HERE / name).read_text())
    return [Part(each.name, each.definitions, each.before, each.keep) for each in ways]


def compose() -> Iterator[Made]:
    """Every way with the first ones of both other dimensions, for each kind of value, as far as it is Python."""
    arrivals, loops = read_arrivals_and_loops()
    keeps = read_keeps()
    chosen = dict.fromkeys(
        (arrival, keep, loop)
        for arrival in arrivals
        for keep in keeps
        for loop in loops
        if (arrival.name in FIRST_ARRIVALS) + (keep.name in FIRST_KEEPS) + (loop.name in FIRST_LOOPS) >= 2
    )
    for arrival, keep, loop in chosen:
        for kind in SOURCES:
            made = Made(kind, arrival, keep, loop)
            if kind == "features" and loop.name in IN_LINE:
                continue
            if is_python(made.text(SOURCES[kind])):
                yield made


def compose_causes() -> Iterator[Made]:
    """Those that make what they keep themselves, in each of the first loops."""
    _, loops = read_arrivals_and_loops()
    for cause in read_keeps("lint_causes.txt"):
        for loop in loops:
            if loop.name in FIRST_LOOPS:
                yield Made("features", NOTHING, cause, loop)


def is_python(text: str) -> bool:
    try:
        compile(text, "train.py", "exec", ast.PyCF_ONLY_AST)
        compile(text, "train.py", "exec")
    except SyntaxError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missed", action="store_true", help="name what was missed and what is wrong")
    arguments = parser.parse_args()
    told: dict[tuple[str, str], list[bool]] = defaultdict(list)
    wrong, missed = [], []
    for made in compose():
        is_told, name = made.is_told(), f"{made.kind}: {made.arrival.name} / {made.keep.name} / {made.loop.name}"
        for dimension, value in (("arrival", made.arrival.name), ("keep", made.keep.name), ("loop", made.loop.name)):
            told[dimension, value].append(is_told)
        told["kind", made.kind].append(is_told)
        missed += [] if is_told else [name]
        wrong += [f"{name}: {each}" for each in made.told_wrongly()]
    for made in compose_causes():
        is_told = made.is_told()
        told["cause", made.keep.name].append(is_told)
        missed += [] if is_told else [f"{made.keep.name} / {made.loop.name}"]
    print_table(told)
    if arguments.missed:
        print(*missed, *wrong, sep="\n")
    print(f"{len(wrong)} wrong findings of those that keep numbers")


def print_table(told: dict[tuple[str, str], list[bool]]) -> None:
    """A line per way that is not always told, then one per dimension: ways told in all, in some and in none of their
    programs, and programs."""
    for (dimension, name), each in told.items():
        if not all(each):
            print(f"{dimension:8} {name:38} {sum(each):4} of {len(each)}")
    for dimension in dict.fromkeys(key for key, _ in told):
        rows = [each for (key, _), each in told.items() if key == dimension]
        most = sum(sum(each) > len(each) / 2 for each in rows)
        never = sum(not any(each) for each in rows)
        programs = f"{sum(map(sum, rows))} of {sum(map(len, rows))} programs"
        print(f"{dimension}: {len(rows)} ways, {most} told in most of their programs, {never} in none; {programs}")


if __name__ == "__main__":
    main()
