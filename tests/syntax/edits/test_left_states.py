from __future__ import annotations

import pytest

from edit_texts import new_lines, source_of
from tenure.syntax.edits.left_states import forget_frozen_states, forget_states

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


@pytest.mark.parametrize(
    ("sets", "function", "optimizer"),
    [
        ("self.opt = opt", "def freeze(self):\n        self.net.body.requires_grad_(False)", "self.opt"),
        (
            "self.opt = opt",
            "def freeze(self, on):\n        if on:\n            self.net.eval().requires_grad_(False)",
            "self.opt",
        ),
        (
            "self.opt = opt",
            "def freeze(self):\n        for p in self.net.parameters():\n            p.requires_grad = False\n"
            "            p.grad = None",
            "self.opt",
        ),
        ("pass", "def freeze(self, opt):\n        self.net.requires_grad_(False)\n        opt.zero_grad()", "opt"),
        ("self.opt = opt", "def freeze(self):\n        self.net.requires_grad_(True)", ""),
        ("self.other = opt", "def freeze(self):\n        self.net.requires_grad_(False)", ""),
        (
            "self.opt = opt",
            "def freeze(self, opt):\n        self.net.requires_grad_(False)\n        self.opt.step(opt)",
            "",
        ),
    ],
    ids=["a module", "under a condition", "a loop", "a parameter", "trains", "another name", "two of that name"],
)
def test_state_of_what_was_frozen_is_dropped_where_the_optimizer_is_at_hand(
    sets: str, function: str, optimizer: str
) -> None:
    source = source_of(f"class Stage:\n    def __init__(self, net, opt):\n        {sets}\n\n    {function}\n")
    added = f"for gone in [each for each in {optimizer}.state if not each.requires_grad]:\ndel {optimizer}.state[gone]"

    assert new_lines(source, forget_frozen_states([source], "opt")) == [added] * bool(optimizer)
