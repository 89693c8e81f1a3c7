"""Handles that are asked to remove their hooks before they are forgotten."""

from __future__ import annotations

import pytest

from edit_texts import line_of, new_lines, source_of
from tenure.syntax.edits.forgotten_handles import remove_where_forgotten

TAPPED = """
@contextmanager
def tapped(network, names, handles):
    {registered}
    try:
        yield
    finally:
        {forgotten}
"""


def removed(registered: str, forgotten: str) -> list[str]:
    source = source_of(TAPPED.format(registered=f"{registered}  # here", forgotten=forgotten))
    return new_lines(source, remove_where_forgotten(source, line_of(source)))


@pytest.mark.parametrize(
    ("registered", "forgotten", "turns"),
    [
        ("handles[names[0]] = network.register_forward_hook(keep)", "handles.clear()", "handles.values()"),
        ("self.handles.append(network.register_full_backward_hook(keep))", "self.handles = []", "self.handles"),
        ("handles = [network[n].register_forward_hook(keep) for n in names]", "handles.clear()", "handles"),
        ("handles = {n: network[n].register_forward_hook(keep) for n in names}", "handles = {}", "handles.values()"),
    ],
)
def test_hooks_are_removed_before_their_handles_are_forgotten(registered: str, forgotten: str, turns: str) -> None:
    assert removed(registered, forgotten) == [f"for handle in {turns}:\nhandle.remove()"]


@pytest.mark.parametrize(
    ("registered", "forgotten"),
    [
        ("handles[names[0]] = network.register_forward_hook(keep)", "others.clear()"),
        ("handles[names[0]] = network.register_forward_hook(keep)", "handles = [1]"),
        ("network.register_forward_hook(keep)", "handles.clear()"),
        ("handles[names[0]] = network.forward(keep)", "handles.clear()"),
    ],
)
def test_what_is_not_forgotten_stays(registered: str, forgotten: str) -> None:
    assert removed(registered, forgotten) == []
