# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import Suspect

STEPS = (1, 2, 3, 4, 6, 8, 12, 16)
RING = "island -> __main__.Model#model{step} -> .own __main__.Part#part{step} -> .model __main__.Model#model{step}\nisland -> __main__.Model#model{step} -> .t tensor#m{step} 64B"
HOOKS = "unseen -> collections.OrderedDict#hooks{n} -> [{n}] functools.partial#p{n} -> .args tuple#a{n} -> [0] __main__.Strategy#s{n} -> .cache tensor#t{n} 1MiB"
OTHERS = (
    "unseen -> list#list{n} -> [0] tensor#t{n} 1MiB",
    "unseen -> dict#dict{n} -> ['x'] tensor#t{n} 1MiB",
    "unseen -> __main__.Box#box{n} -> .x tensor#t{n} 1MiB",
)


def run(*lines: str, also: str = "") -> tuple[Suspect, ...]:
    """Item `n` is drawn by the lines in turn; there is one more of them after each step."""
    return find_suspects([
        census(
            "\n".join([
                "main.net -> tensor#net 4MiB",
                *(lines[n % len(lines)].format(n=n) for n in range(step)),
                also.format(step=step, bytes=step),
            ]),
            step=step,
        )
        for step in STEPS
    ])  # fmt: skip


def told(suspect: Suspect) -> tuple[object, ...]:
    return (
        suspect.symptom,
        suspect.retained_bytes,
        suspect.growth_bytes_per_step,
        suspect.holder.name,
        suspect.cut,
        suspect.facts,
    )


def test_what_hooks_out_of_sight_hold_grows_though_rings_wait_for_the_collector() -> None:
    unseen, ring = run(HOOKS, also=RING)

    assert told(unseen) == (
        "growth",
        16 << 20,
        float(1 << 20),
        "an owner that is not visible to Python",
        (),
        {
            "unseen_owners": 16,
            "they_hold": {"collections.OrderedDict": 16},
            "leading_to": {"__main__.Strategy": 16},
        },
    )
    assert unseen.path_text[0] == "hooks that only C++ keeps (of an autograd node, probably)"
    assert ring.symptom == "cycle"


def test_owners_of_many_kinds_are_told_in_one_sum() -> None:
    (unseen,) = run(*OTHERS)

    assert told(unseen)[:3] == ("growth", 16 << 20, float(1 << 20))
    assert unseen.facts["they_hold"] == {"list": 6, "dict": 5, "__main__.Box": 5}


def test_where_a_list_explains_most_of_the_growth_there_is_no_sum() -> None:
    found = run(*OTHERS, also="main.kept -> list#kept -> [*{step}] tensor#k* 8MiB")

    assert found[0].holder.expression == "kept[*]"
    assert [each for each in found if "they_hold" in each.facts] == []


@pytest.mark.parametrize(
    "line",
    [
        "unseen -> list#stack -> [0] tensor#t0 1MiB",
        "unseen -> list_iterator#loop{n} -> [0] tensor#t{n} 1MiB",
        "unseen -> list#small{n} -> [0] tensor#t{n} 64B",
    ],
)
def test_what_stays_is_looped_over_or_is_little_is_no_growth_out_of_sight(line: str) -> None:
    assert [each for each in run(line) if "they_hold" in each.facts] == []


def test_what_is_new_in_every_census_is_turnover() -> None:
    drawn = [
        "main.net -> tensor 4MiB\n"
        + "\n".join(f"unseen -> list#l{step}x{n} -> [0] tensor#t{step}x{n} 1MiB" for n in range(step))
        for step in STEPS
    ]

    found = find_suspects([census(text, step=step) for step, text in zip(STEPS, drawn, strict=True)])

    assert [each for each in found if "they_hold" in each.facts] == []
