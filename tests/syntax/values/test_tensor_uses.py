"""What comes from a loader is a tensor where a module is given it."""

from __future__ import annotations

import pytest

from told import rules

MINER = """
    import torch
    from torch import nn
    class Miner:
        def __init__(self):
            self.pool = []
        def mine(self, images, losses):
            for i in losses.argsort()[:2].tolist():
                self.pool.append({kept})
    def train(model, loader):
        miner = Miner()
        for images, names in loader:
            losses = model({given})
            miner.mine(images, losses.detach())
"""


@pytest.mark.parametrize(
    ("kept", "given", "found"),
    [
        ("images[i]", "images", ["TN204"]),
        ("images[i].clone()", "images", ["TN202"]),
        ("images[i]", "names", []),
    ],
)
def test_what_a_module_is_given_is_a_tensor(kept: str, given: str, found: list[str]) -> None:
    assert rules(MINER.format(kept=kept, given=given)) == found
