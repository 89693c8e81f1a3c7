"""Step numbers at which something is looked at: censuses, counters that are read now and then, calls of modules."""

from __future__ import annotations

LAST_ROUND_STEP = 8
"""From then on the second census of an octave lies beside its middle, and an entry follows it."""
BESIDE_THE_MIDDLE = (1, -2, -4, -1)
"""So far, in turn. What programs do every so many steps they do at multiples, and what an evaluation leaves until the
next one is not there at the forward's entry where that is the evaluation's own. With these no period meets more than
half of the entries at the same place, and one of ten, twenty, fifty or a hundred steps none at its own."""


def is_census_step(step: int) -> bool:
    """Steps 1, 2, 3, 4, 6, 8, 13, 16, 22, 32, 44, 64, 95, 128, 193, ...: two per octave."""
    if step <= LAST_ROUND_STEP:
        return is_geometric(step)
    return _is_power_of_two(step) or step == _beside_middle(step.bit_length() - 1)


def next_census_step(step: int) -> int:
    """The first of these steps after `step`, which is 1 or more."""
    if step < LAST_ROUND_STEP:
        return next_geometric(step)
    octave = step.bit_length() - 1
    beside = _beside_middle(octave)
    return beside if step < beside else 2 << octave


def _beside_middle(octave: int) -> int:
    """The second census of the octave that begins with step 2 ** octave."""
    turn = octave - (LAST_ROUND_STEP.bit_length() - 1)
    return 3 * (1 << octave - 1) + BESIDE_THE_MIDDLE[turn % len(BESIDE_THE_MIDDLE)]


def is_geometric(step: int) -> bool:
    """Steps 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, ...: two per octave."""
    if step < 1:
        return False
    return _is_power_of_two(step) or (step % 3 == 0 and _is_power_of_two(step // 3))


def next_geometric(step: int) -> int:
    """The first of these steps after `step`, which is 1 or more."""
    power = 1 << step.bit_length() - 1
    middle = power + power // 2
    return middle if step < middle else 2 * power


def watches_calls(step: int) -> bool:
    """Whether it is watched which modules are called after this step, beside the steps that follow a census.

    True around 10, 20, ..., 90, 100, 200, ...: what is used every so many steps is mostly used every 5, 10, 50 or 100,
    and a census follows none of these. Around, for programs count from 0 or 1, before or after the optimizer's step.
    """
    return step % 10 in (9, 0, 1) and any(_is_round(near) for near in (step - 1, step, step + 1))


def next_watched_calls(step: int) -> int:
    """The first step after `step` of which `watches_calls` is true."""
    digits: int = max(10, 10 ** (len(str(step)) - 1))
    near = max(1, -(-step // digits)) * digits
    return max(near - 1, step + 1)


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _is_round(number: int) -> bool:
    text = str(number)
    return len(text) > 1 and text[1:].strip("0") == ""
