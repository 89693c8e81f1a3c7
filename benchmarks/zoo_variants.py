"""Whether a diagnosis depends on what does not matter: zoo programs rewritten so that their leak stays as it is.

    python benchmarks/zoo_variants.py --share 0.2 --keep FOLDER       a fifth of all pairs, drawn by a hash
    python benchmarks/zoo_variants.py --only SLUG --by boxed          one program, one rewriting

Each rewriting works on the syntax trees of one program's files; the truth's statements are followed to their new lines.
`plain` writes the files anew and changes nothing: what it loses was lost before. A rewriting that has nothing to do in
a program, or that breaks it, does not count. Only worked-with programs are taken (sha256 of the slug mod 3 is not 0).
Counted as in zoo_score.py: the rank of the first finding at one of the truth's statements, its cause, and its bytes
where the rewriting leaves them alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import zoo_score
from zoo_rewritings import REWRITINGS
from zoo_score import Truth
from zoo_trees import read_program, write_program

FAMILIES = ("TN101", "TN102", "TN106", "TN401", "TN402", "TN403", "TN404")


@dataclass(frozen=True)
class Variant:
    """What became of one rewriting of one program."""

    slug: str
    family: str
    by: str
    rank: int | None = None
    rule: str = ""
    cause: bool = False
    bytes: bool | None = None
    said: str = ""
    error: str = ""
    seconds: float = 0.0


def try_variant(truth: Truth, by: str, keep: Path) -> Variant | None:
    """Rewrite one program in one way, run and judge it; None where there is nothing to rewrite."""
    program = read_program(truth)
    if not REWRITINGS[by].change(program):
        return None
    started = time.monotonic()
    folder = keep / by.replace(" ", "-") / truth.slug
    shutil.rmtree(folder, ignore_errors=True)
    moved = _also_as_entries(write_program(program, folder))
    findings, error = zoo_score.findings_of(folder / "train.py", folder.with_name(f"{truth.slug}.runs"))
    ranks = [at for at, finding in enumerate(findings, 1) if zoo_score.is_right(moved, finding, folder)]
    right = findings[ranks[0] - 1] if ranks else None
    return Variant(
        truth.slug,
        truth.rules[0],
        by,
        rank=ranks[0] if ranks else None,
        rule=right["rule"] if right else "",
        cause=right is not None and right["rule"] in truth.rules,
        bytes=zoo_score.bytes_right(truth, right) if right and REWRITINGS[by].keeps_bytes else None,
        said=zoo_score.describe(findings),
        error=error,
        seconds=time.monotonic() - started,
    )


def _also_as_entries(truth: Truth) -> Truth:
    """The truth, whose names may also be keys: `self.last` that has become `self.things['last']`."""
    as_keys = (replace(place, name=repr(place.name)) for place in truth.places)
    return replace(truth, places=(*truth.places, *as_keys))


def drawn(truths: Iterable[Truth], names: Iterable[str], share: float) -> Iterator[tuple[Truth, str]]:
    """A share of all pairs by a hash of both, in the hash's order."""
    pairs = [(_part(f"{truth.slug} {name}"), truth, name) for truth in truths for name in names if name != "plain"]
    return ((truth, name) for part, truth, name in sorted(pairs, key=lambda pair: pair[0]) if part < share)


def _part(text: str) -> float:
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32


def _run(pool: ThreadPoolExecutor, pairs: Iterable[tuple[Truth, str]], keep: Path) -> Iterator[Variant]:
    for found in pool.map(lambda pair: try_variant(*pair, keep), pairs):
        if found is not None:
            right = f"{found.rank} {found.rule} {'' if found.cause else '(another cause)'} {found.bytes}"
            print(f"{found.slug} [{found.by}] {found.family}: {found.error or right}", file=sys.stderr, flush=True)
            yield found


def print_table(variants: list[Variant]) -> None:
    """Counts by rewriting, of the programs whose plain form is told; then each that is told worse than that."""
    plain = {each.slug: each for each in variants if each.by == "plain"}
    print(f"{'rewriting':20} {'programs':>8} {'rank 1':>8} {'named':>8} {'cause':>8} {'bytes':>8} {'broken':>8}")
    for by in REWRITINGS:
        own = [each for each in variants if each.by == by]
        ran = [each for each in own if not each.error]
        print(
            f"{by:20} {len(own):8} {zoo_score.share(each.rank == 1 for each in ran):>8} "
            f"{zoo_score.share(each.rank is not None for each in ran):>8} "
            f"{zoo_score.share(each.cause for each in ran):>8} "
            f"{zoo_score.share(each.bytes for each in ran):>8} {len(own) - len(ran):8}"
        )
    for each in variants:
        before = plain.get(each.slug)
        lost = each.rank is None or (before and (each.rank > (before.rank or 9) or each.rule != before.rule))
        wrong = before is not None and before.bytes and each.bytes is False
        if lost or wrong or each.error:
            print(f"{each.slug} [{each.by}] {each.family}: {each.error or each.said or 'nothing'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="SLUG", help="only this program (may be repeated)")
    parser.add_argument("--by", action="append", choices=REWRITINGS, help="only this rewriting (may be repeated)")
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the pairs of a program and a rewriting (default 1)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time (default 1)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave programs and recordings there")
    parser.add_argument("--output", type=Path, help="where the JSON goes")
    arguments = parser.parse_args()
    truths = [
        truth
        for truth in zoo_score.all_truths()
        if not truth.healthy and not truth.held_out and truth.rules[0] in FAMILIES
    ]
    truths = [truth for truth in truths if not arguments.only or truth.slug in arguments.only]
    variants: list[Variant] = []
    with tempfile.TemporaryDirectory(prefix="variants-") as passing, ThreadPoolExecutor(arguments.jobs) as pool:
        keep = arguments.keep or Path(passing)
        pairs = list(drawn(truths, arguments.by or list(REWRITINGS), arguments.share))
        variants += _run(pool, pairs, keep)
        doubted = {each.slug for each in variants if each.rank != 1 or not each.cause or each.bytes is False}
        variants += _run(pool, [(truth, "plain") for truth in truths if truth.slug in doubted], keep)
        if arguments.output:
            arguments.output.write_text(json.dumps([asdict(each) for each in variants], indent=1) + "\n")
    print_table(variants)


if __name__ == "__main__":
    main()
