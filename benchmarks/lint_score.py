"""How often `tenure lint` is right on the zoo, cause by cause: what it tells without running anything.

    python benchmarks/lint_score.py              table on stdout, one row per cause
    python benchmarks/lint_score.py --missed     also what was missed and told wrongly, of the programs worked with

A leak is told where a finding stands at one of the truth's statements (file, line at most 2 off); its cause is told
where the code is one of the truth's, too. Wrong is every finding on a healthy program, in a fixed.py (which holds what
was mended), and at a leaky program's other statements. Of the third that is set aside only numbers are printed.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from zoo_score import LINES_OFF, ZOO, Truth, all_truths

from tenure.lint import lint
from tenure.model.source_finding import SourceFinding

SHOWN_BY_SOURCE = (
    *("TN101", "TN103", "TN104", "TN105", "TN107"),
    *("TN201", "TN202", "TN203", "TN204", "TN205", "TN302", "TN303", "TN402"),
)
"""Causes that a program's text decides: the statement, and what else the program does with the same name. Of the others
the text shows the statement, but not how long what it names lives, or what is alive at the peak."""


@dataclass(frozen=True)
class Judged:
    """What lint says of one program; `wrong` has a line for each finding that is not the truth's."""

    truth: Truth
    told: bool
    cause: bool
    wrong: tuple[str, ...]

    @property
    def family(self) -> str:
        """Its cause, or "healthy"."""
        return "healthy" if self.truth.healthy else self.truth.rules[0]


def judge(truth: Truth) -> Judged:
    """Lint a program as it leaks, and once more together with its fixed.py."""
    folder = ZOO / truth.slug
    mended = folder / "fixed.py"
    own = sorted(path for path in folder.rglob("*.py") if path != mended)
    found = lint([str(path) for path in own]).findings
    right = [each for each in found if is_right(truth, each)]
    wrong = [each for each in found if each not in right]
    if mended.exists():
        wrong += [each for each in lint([str(folder)]).findings if Path(each.file).name == mended.name]
    said = tuple(f"{truth.slug}/{Path(each.file).name}:{each.line} {each.rule} {each.message}" for each in wrong)
    return Judged(truth, bool(right), any(each.rule in truth.rules for each in right), said)


def is_right(truth: Truth, finding: SourceFinding) -> bool:
    """Whether a finding stands at one of the truth's statements."""
    return any(
        Path(finding.file).name == Path(place.file).name
        and finding.line - LINES_OFF <= place.line <= max(finding.line, finding.end_line) + LINES_OFF
        for place in truth.places
    )


def print_group(name: str, judged: list[Judged]) -> None:
    """One row per cause, then the sum over the causes that source can show."""
    print(f"{name}\n{'':9} programs  told  cause  wrong")
    for family in sorted({each.family for each in judged}):
        print_row(family, [each for each in judged if each.family == family])
    counted = [each for each in judged if each.family in SHOWN_BY_SOURCE]
    print_row("counted", counted)
    print_row("all", judged)
    told, wrong = sum(each.told for each in judged), sum(len(each.wrong) for each in judged)
    print(
        f"recall {share(sum(each.told for each in counted), len(counted))} over causes that source can show, "
        f"precision {share(told, told + wrong)}\n"
    )


def print_row(name: str, judged: list[Judged]) -> None:
    told, cause = sum(each.told for each in judged), sum(each.cause for each in judged)
    print(f"{name:9} {len(judged):8} {told:5} {cause:6} {sum(len(each.wrong) for each in judged):6}")


def share(part: int, whole: int) -> str:
    """`8/10 = 0.80`."""
    return f"{part}/{whole} = {part / whole:.2f}" if whole else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--missed", action="store_true", help="name what was missed and what is wrong, worked-with only"
    )
    arguments = parser.parse_args()
    judged = [judge(truth) for truth in all_truths()]
    worked = [each for each in judged if not each.truth.held_out]
    print_group("worked with", worked)
    print_group("set aside", [each for each in judged if each.truth.held_out])
    if arguments.missed:
        for each in worked:
            if each.family in SHOWN_BY_SOURCE and not each.told:
                place = each.truth.places[0]
                print(f"missed {each.family} {each.truth.slug}/{place.file}:{place.line} {place.name}")
        print(*(f"wrong {line}" for each in worked for line in each.wrong), sep="\n")
        print(Counter(line.split()[1] for each in worked for line in each.wrong))


if __name__ == "__main__":
    main()
