"""Whether what a place holds is gone through by a backward pass, of whatever function of the program."""

from __future__ import annotations

from functools import lru_cache

from tenure.syntax.kept.kept_graphs import read_by, read_by_backward
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.scopes import MODULE


def is_wanted(program: Program, place: str, function: Function) -> bool:
    """Whether a backward pass starts from, or goes through, what a place holds: the log-probabilities of an episode.

    Followed by name inside each function, and into those that are called for such a value by their names.
    """
    if "." not in place:
        return place in read_by_backward(program, function.source)
    return f".{place.rpartition('.')[2]}" in _read_anywhere(program)


@lru_cache(maxsize=1)
def _read_anywhere(program: Program) -> frozenset[str]:
    """Last names of attributes that backward passes are computed from, with a dot before them."""
    sources = [each.source for each in program.functions if each.qualname == MODULE]
    found = {text for source in sources for text in read_by_backward(program, source)}
    by_name: dict[str, list[Function]] = {}
    for each in program.functions:
        if each.returns and not program.is_part_of_module(each):
            by_name.setdefault(f"{each.name}()", []).append(each)
    waiting = [text for text in found if text in by_name]
    while waiting:
        for each in by_name.pop(waiting.pop(), ()):
            texts = read_by([value.value for value in each.returns if value.value is not None], each) - found
            found |= texts
            found |= {f".{text.rpartition('.')[2]}" for text in texts if "." in text}
            waiting += [text for text in texts if text in by_name]
    return frozenset(found)
