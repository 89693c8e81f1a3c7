from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tenure.capture.faking.fake_memory import begin_fake_memory
from tenure.capture.tensors.fakes import computes_shapes_alone, fakes_in_force, is_no_tensor_of_the_program


def test_a_fake_tensor_of_a_plan_stands_for_one_of_the_program_and_others_for_none() -> None:
    memory = begin_fake_memory()
    try:
        of_plan, plain = torch.nn.Parameter(torch.ones(2)), torch.ones(2)
        with FakeTensorMode():
            of_torch, alone = torch.ones(2), computes_shapes_alone()
        told = [is_no_tensor_of_the_program(each) for each in (of_plan, plain, of_torch)]
    finally:
        memory.end()

    assert told == [False, False, True]
    assert (alone, computes_shapes_alone(), fakes_in_force()) == (True, False, None)
