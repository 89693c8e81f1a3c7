from __future__ import annotations

import gc

import torch

from tenure.capture.profile.places import Places


def test_what_was_put_somewhere_is_known_by_all_views_of_it_and_forgotten_with_it() -> None:
    places = Places()
    data = torch.zeros(8)
    told: list[tuple[int, bool]] = []
    places.watching = lambda tensor, on_device: told.append((tensor.numel(), on_device))

    places.put(data, True)
    places.put(torch.zeros(3), False)

    assert (places.of(data[2:4]), places.of(torch.zeros(8)), told) == (True, None, [(8, True), (3, False)])
    del data
    gc.collect()
    assert places._known == {}


def test_parameters_and_what_is_computed_from_them_lie_on_the_device_unless_copied_back() -> None:
    places, weight = Places(), torch.nn.Parameter(torch.ones(2), requires_grad=False)
    computed = torch.ones(2, requires_grad=True) * 2
    back = computed.clone()
    places.put(back, False)

    found = [places.is_on_device(each) for each in (weight, computed, back, torch.ones(2))]

    assert found == [True, True, False, False]


def test_sparse_tensors_and_those_without_memory_are_put_nowhere() -> None:
    places = Places()

    places.put(torch.zeros(2).to_sparse(), True)
    places.put(torch.zeros(2, device="meta"), True)

    assert places._known == {}
