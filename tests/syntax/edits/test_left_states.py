from __future__ import annotations

import pytest

from edit_texts import new_lines, source_of
from tenure.syntax.edits.left_states import forget_states

FORGET = (
    'for gone in set(self.opt.state).difference(*(group["params"] for group in self.opt.param_groups)):\n'
    "del self.opt.state[gone]"
)


@pytest.mark.parametrize(
    ("change", "added"),
    [
        ('for group in self.opt.param_groups:\n            group["params"] = [p for p in group["params"]]', [FORGET]),
        ("self.opt.param_groups.clear()", [FORGET]),
        ('self.opt.param_groups[0]["params"].remove(old)', [FORGET]),
        ("for group in self.opt.param_groups:\n            group['lr'] = 0.1", []),
        ("rows.clear()", []),
    ],
)
def test_state_of_parameters_in_no_group_is_dropped(change: str, added: list[str]) -> None:
    source = source_of(f"class Grower:\n    def admit(self, old):\n        {change}\n")

    assert new_lines(source, forget_states([source])) == added
