"""What was let go under one name in two places is told for each."""

from __future__ import annotations

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import Suspect

TRAINER = "Trainer.fit(t.py:9).self -> __main__.Trainer#trainer"
BODY = f"{TRAINER} -> .body __main__.Body -> ._parameters dict -> ['d'] parameter#b 1MiB\n"
GROUP = f"{TRAINER} -> .opt torch.optim.adam.Adam -> .param_groups list -> [0] dict -> ['params'] list -> "
OPTIMIZER = f"{GROUP}[0] parameter#b 1MiB\n{GROUP}[1] parameter#p 8MiB\n"
OWNERS = "".join(
    f"{TRAINER} -> .{name} __main__.{name.title()}#{name} -> .x list -> [0] tensor 4B\n"
    for name in ("teacher", "student")
)


def module(owner: str, name: str, kind: str, parameter: str) -> str:
    return (
        f"{TRAINER} -> .{owner} __main__.{owner.title()}#{owner} -> .{name} __main__.{kind}#{parameter}m "
        f"-> ._parameters dict -> ['w'] parameter#{parameter} {'8MiB' if parameter == 'p' else '16MiB'}\n"
    )


def survivors(before: str, after: str) -> dict[str, Suspect]:
    """By the expression that holds each, of six steps: three with the first heap, three with the second."""
    censuses = [census(before if step < 4 else after, step=step) for step in (1, 2, 3, 4, 6, 8)]
    return {each.holder.expression: each for each in find_suspects(censuses) if each.symptom == "survivor"}


def test_two_modules_of_one_name_that_go_in_one_step_are_told_though_an_optimizer_keeps_one() -> None:
    kept = module("cache", "old", "Dec", "q")
    before = BODY + OPTIMIZER + OWNERS + module("teacher", "net", "Enc", "p") + module("student", "net", "Dec", "q")

    assert set(survivors(before + kept, BODY + OPTIMIZER + OWNERS + kept)) == {"self.cache.old", "self.opt"}


def test_a_survivor_is_known_by_who_holds_it_whatever_else_survives() -> None:
    def told(*owners: str) -> dict[str, Suspect]:
        parameters = {"teacher": "p", "student": "q"}
        kept = "".join(module(f"old_{each}", "old", "Dec", parameters[each]) for each in owners)
        gone = "".join(module(each, "net", "Dec", parameters[each]) for each in owners)
        return survivors(BODY + OWNERS + gone + kept, BODY + OWNERS + kept)

    alone, both = told("teacher"), told("teacher", "student")
    assert [set(alone), set(both)] == [{"self.old_teacher.old"}, {"self.old_teacher.old", "self.old_student.old"}]
    assert both["self.old_teacher.old"].fingerprint == alone["self.old_teacher.old"].fingerprint
    assert both["self.old_student.old"].fingerprint != alone["self.old_teacher.old"].fingerprint
