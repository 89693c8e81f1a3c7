"""Handles that are asked to remove their hooks before they are forgotten."""

from __future__ import annotations

import pytest

from edit_texts import changes, line_of, new_lines, source_of
from tenure.syntax.edits.forgotten_handles import number_handles, remove_where_forgotten

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
        ("handles[names[0]] = network.register_forward_hook(keep)", "handles = {}", "handles.values()"),
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


NUMBERED = """
def tapped(model, kinds):
    taps = {{}}
    for name, module in model.named_modules():
        taps[type(module).__name__] = module.register_forward_hook(keep)  # here
    {read}
"""


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("return taps.values()", ["taps[len(taps)] = module.register_forward_hook(keep)  # here"]),
        ('return taps["Linear"]', []),
    ],
)
def test_a_handle_gets_a_number_of_its_own_where_no_key_is_read(read: str, expected: list[str]) -> None:
    source = source_of(NUMBERED.format(read=read))

    assert changes(source, number_handles(source, line_of(source)))[1:] == expected


def test_a_variable_that_holds_nothing_yet_forgets_nothing() -> None:
    source = source_of(NUMBERED.format(read="return taps.values()"))

    assert new_lines(source, remove_where_forgotten(source, line_of(source))) == []
