from __future__ import annotations

from tenure.syntax.program.questions import Questions

RING = {"a": ["b", "one"], "b": ["c"], "c": ["a", "two"], "one": [], "two": []}


def reached(links: dict[str, list[str]], deepest: int = 40) -> tuple[Questions[frozenset[str]], list[str]]:
    """Questions for what can be reached from each name, answered on demand; the list tells what was evaluated."""
    questions: Questions[frozenset[str]] = Questions(frozenset(), deepest)
    asked: list[str] = []

    def find(name: str) -> frozenset[str]:
        asked.append(name)
        return frozenset(links[name]).union(*map(ask, links[name]))

    def ask(name: str) -> frozenset[str]:
        return questions.answer(name, lambda: find(name))

    ask("a")
    for name in links:
        asked.append(f"{name}: {' '.join(sorted(ask(name)))}")
    return questions, asked


def test_all_of_a_ring_get_the_whole_answer_and_are_not_asked_again() -> None:
    answers = [each for each in reached(RING)[1] if ":" in each]

    assert answers == ["a: a b c one two", "b: a b c one two", "c: a b c one two", "one: ", "two: "]


def test_without_a_ring_each_question_is_evaluated_once() -> None:
    _, asked = reached({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []})

    assert asked == ["a", "b", "d", "c", "a: b c d", "b: d", "c: d", "d: "]


def test_what_lies_too_deep_is_taken_for_nothing() -> None:
    _, asked = reached({"a": ["b"], "b": ["c"], "c": ["d"], "d": []}, deepest=2)

    assert asked[:3] == ["a", "b", "a: b c"]
