from __future__ import annotations

import torch
from torch import nn

from tenure.capture.trying.checkpointing import Blocks, checkpoint_blocks, find_blocks
from tenure.capture.trying.program import Program


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.linear(x).tanh()


def program_of(model: nn.Module) -> Program:
    return Program(tuple(sorted(model.named_modules(), key=lambda each: each[0])), ())


def groups_of(model: nn.Module) -> list[tuple[str, str, int]]:
    return [(each.container, each.of_class, len(each.blocks)) for each in find_blocks(program_of(model))]


def test_children_of_one_class_in_a_list_or_a_sequence_are_blocks() -> None:
    assert groups_of(nn.Sequential(nn.Linear(4, 4), Block(), Block(), Block())) == [("", "Block", 3)]
    stages = nn.Sequential(nn.Sequential(Block(), Block()), nn.Sequential(Block(), Block(), Block()))
    assert groups_of(stages) == [("0", "Block", 2), ("1", "Block", 3)]
    layers = nn.Sequential(*(nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU()) for _ in range(2)))
    assert groups_of(layers) == [("", "Sequential", 2)]


def test_what_does_not_repeat_or_is_no_block_is_left_alone() -> None:
    assert groups_of(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))) == []
    assert groups_of(nn.Sequential(Block(), nn.Linear(4, 4))) == []
    assert groups_of(nn.Sequential(Block().requires_grad_(False), Block().requires_grad_(False))) == []


def test_a_block_runs_again_in_backward_once_however_often_it_is_looked_for() -> None:
    model = nn.Sequential(Block(), Block())
    checkpoint_blocks(program_of(model))
    checkpoint_blocks(program_of(model))

    model(torch.ones(2, 4)).sum().backward()

    assert [block.calls for block in model] == [2, 2]


def test_gradients_are_those_of_the_program_as_it_is() -> None:
    torch.manual_seed(0)
    model, x = nn.Sequential(Block(), Block()), torch.ones(2, 4)
    model(x).sum().backward()
    before = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    checkpoint_blocks(program_of(model))

    model(x).sum().backward()

    assert all(torch.equal(one, other.grad) for one, other in zip(before, model.parameters(), strict=True))


def test_several_classes_in_one_list_are_groups_of_their_own() -> None:
    class Other(Block):
        pass

    model = nn.ModuleList([Block(), Other(), Block(), Other()])

    found = find_blocks(program_of(model))
    assert found == [Blocks("", "Block", (model[0], model[2])), Blocks("", "Other", (model[1], model[3]))]
