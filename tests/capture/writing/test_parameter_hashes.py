from __future__ import annotations

import math

import torch

from tenure.capture.writing.parameter_hashes import hash_parameters


def optimizer_of(*values: torch.Tensor) -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(value) for value in values], lr=0.1)


def test_equal_bits_have_equal_hashes_and_the_smallest_change_another() -> None:
    value = torch.arange(6.0).reshape(2, 3)
    other = value.clone()
    other[1, 2] = torch.nextafter(other[1, 2], torch.tensor(9.0))
    found = [hash_parameters([optimizer_of(each)]) for each in (value, value.clone(), other, value.reshape(3, 2))]

    assert all(each is not None for each in found)
    digests = [each.digest for each in found if each is not None]
    assert (digests[0] == digests[1], len(set(digests))) == (True, 3)
    assert found[0] is not None
    assert (found[0].count, found[0].norm) == (1, math.sqrt(55))


def test_all_kinds_of_parameters_are_read_under_any_mode() -> None:
    values = (
        torch.ones(3, dtype=torch.bfloat16),
        torch.zeros(0),
        torch.ones(4, 4).t()[:, 1:],
        torch.ones(2, dtype=torch.cfloat),
    )
    with torch.inference_mode():
        inside = hash_parameters([optimizer_of(*values)])

    assert inside == hash_parameters([optimizer_of(*values[:2]), optimizer_of(*values[2:])])
    assert inside is not None
    assert inside.count == 4


def test_without_parameters_or_with_those_that_have_no_values_there_is_no_hash() -> None:
    assert hash_parameters([]) is None
    assert hash_parameters([optimizer_of(torch.empty(3, device="meta"))]) is None
