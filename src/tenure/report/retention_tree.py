"""The retention path of a finding as a drawing: the root first, each reference one step further in."""

from __future__ import annotations

import re

from tenure.model.finding import Finding, evidence_of
from tenure.report.layout import relative_to_here, shorten_left
from tenure.report.style import Style

MARGIN = "  "
ROOT_LABEL = "root      "
HOPS_IN_FULL = 12
HOPS_AT_START, HOPS_AT_END = 6, 5
LABEL_COLUMN = 20
SUSPECT_MARK = "<- suspect from here"


def draw_path(finding: Finding, *, width: int, style: Style) -> list[str]:
    """One line per reference, at most `width` wide; the middle of a long path is counted, not drawn.

    What each reference leads to (`Tensor [32, 386] float32, 1.86 GiB`) and where it becomes suspect are drawn
    where the finding's evidence of kind "path" carries them: `targets` has one text per reference after the
    root, `suspect_from` the position in `path`; of a root alone `root_target` says what it leads to.
    """
    root, *hops = (relative_to_here(text) for text in finding.path)
    evidence = evidence_of(finding, "path")
    targets = [str(text) for text in evidence.get("targets", ())]
    targets += [""] * (len(hops) - len(targets))
    marks = [position == evidence.get("suspect_from") for position in range(1, len(hops) + 1)]
    rows = _without_middle(list(zip(hops, targets, marks, strict=False)))
    if evidence.get("root_target"):
        rows = [(str(evidence["root_target"]), "", False)]
    step = _indent_step(len(rows), width=width)
    lines = _draw_root(root, width=width, style=style)
    for depth, (label, target, mark) in enumerate(rows):
        lines.append(_draw_hop(label, target, mark, indent=depth * step, width=width, style=style))
    return lines


def _without_middle(rows: list[tuple[str, str, bool]]) -> list[tuple[str, str, bool]]:
    if len(rows) <= HOPS_IN_FULL:
        return rows
    left_out = rows[HOPS_AT_START:-HOPS_AT_END]
    counted = (f"... {len(left_out)} more references", "", any(mark for _, _, mark in left_out))
    return [*rows[:HOPS_AT_START], counted, *rows[-HOPS_AT_END:]]


def _indent_step(depth: int, *, width: int) -> int:
    return next((step for step in (4, 3, 2) if depth * step <= width // 3), 1)


def _draw_root(text: str, *, width: int, style: Style) -> list[str]:
    """On one line, or the place on a second one where it would not be readable beside the name."""
    indent = len(MARGIN + ROOT_LABEL)
    room = width - indent
    name, _, place = text.rpartition(" (")
    basename = place.rpartition("/")[2]
    if not name or len(name) + len(basename) + 4 <= room or len(text) <= room:
        return [f"{MARGIN}{style.dim(ROOT_LABEL)}{fit_place(text, room)}"]
    return [
        f"{MARGIN}{style.dim(ROOT_LABEL)}{fit_place(name, room)}",
        " " * indent + fit_place(f"({place}", room),
    ]


def _draw_hop(label: str, target: str, mark: bool, *, indent: int, width: int, style: Style) -> str:
    branch = f"{MARGIN} {' ' * indent}└─ "
    room = width - len(branch)
    text = fit_place(label.strip(), room)
    if target:
        column = max(LABEL_COLUMN - indent, 0)
        joined = f"{text.ljust(column)}{'' if len(text) < column else '  '}{target}"
        text = joined if len(joined) <= room else f"{text}  {target}"
        text = text if len(text) <= room else text[: room - 1] + "…"
    if mark and len(text) + len(SUSPECT_MARK) + 2 <= room:
        return f"{style.dim(branch)}{text}  {style.bold(SUSPECT_MARK)}"
    return f"{style.dim(branch)}{text}"


def fit_place(text: str, room: int) -> str:
    """`text` in at most `room` columns: shortened in the file in its last parentheses, else at its end."""
    if len(text) <= room:
        return text
    place = re.search(r"\(([^()]*?)(:\d+)?\)$", text)
    if place:
        before, file, line = text[: place.start()], place.group(1), place.group(2) or ""
        left = room - len(before) - len(line) - 2
        if left >= 8:
            return f"{before}({shorten_left(file, left)}{line})"
    return text[: room - 1] + "…"
