"""What tensors were where device memory ran out, as lines of a report."""

from __future__ import annotations

from tenure.model.ran_out import HeldThen, RanOut
from tenure.model.units import format_bytes
from tenure.report.layout import wrap
from tenure.report.style import Style

SIZE_WIDTH, ROLE_WIDTH = 10, 16


def render_ran_out(ran_out: RanOut, *, width: int, style: Style) -> str:
    """A heading and a line for each of the heaviest groups, with the rule that explains it."""
    where = ran_out.device if ran_out.rank is None else f"rank {ran_out.rank}, {ran_out.device}"
    head = f"Out of memory on {where} after step {ran_out.step:,}: tensors held {format_bytes(ran_out.bytes)}"
    lines = [style.bold(line) for line in wrap(head, width=width, first="", rest="  ")]
    indent = " " * (2 + SIZE_WIDTH + 2 + ROLE_WIDTH)
    for held in ran_out.held:
        first = f"  {format_bytes(held.bytes):>{SIZE_WIDTH}}  {held.role.replace('_', ' '):<{ROLE_WIDTH}}"
        lines += wrap(_by_whom(held), width=width, first=first, rest=indent)
    return "\n".join(lines)


def _by_whom(held: HeldThen) -> str:
    by = f"`{held.name}`" if held.name else ""
    count = f"{held.num_storages:,} {'storage' if held.num_storages == 1 else 'storages'}"
    if not by and held.role in ("activation", "input", "other"):
        by = "no name leads there"
    return " · ".join(filter(None, (by, count, held.rule)))
