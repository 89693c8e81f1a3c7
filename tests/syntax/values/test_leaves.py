"""What is computed from tensors that ask for gradients."""

from __future__ import annotations

import pytest

from told import rules

TRACK = """
    import torch
    from torch import nn
    def predict(state, transition):
        return transition @ state
    def main(observations):
        transition = {made}
        state = torch.zeros(4)
        for observation in observations:
            state = predict(state, transition)
            loss = (state - observation).square().sum()
            loss.backward(retain_graph=True)
            {cut}
"""


@pytest.mark.parametrize(
    ("made", "cut", "found"),
    [
        ("nn.Parameter(torch.eye(4))", "", ["TN105"]),
        ("torch.eye(4, requires_grad=True)", "", ["TN105"]),
        ("torch.eye(4).requires_grad_()", "", ["TN105"]),
        ("torch.eye(4)", "", []),
        ("nn.Parameter(torch.eye(4))", "state = state.detach()", []),
    ],
)
def test_what_is_computed_from_a_parameter_has_a_graph(made: str, cut: str, found: list[str]) -> None:
    assert rules(TRACK.format(made=made, cut=cut)) == found
