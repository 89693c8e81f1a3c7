from __future__ import annotations

import copy
import pickle
from pathlib import Path

import torch

from capture.recorder import CensusLog, recording

WIDTH = 256
"""A square layer of this width weighs 256 KiB, two times what is looked at."""


def layer() -> torch.nn.Linear:
    return torch.nn.Linear(WIDTH, WIDTH)


def saved(folder: Path) -> Path:
    torch.save(layer().state_dict(), folder / "net.pt")
    return folder / "net.pt"


def at_calls(log: CensusLog) -> list[tuple[int, str]]:
    return [(step, moment) for step, moment in log.calls if moment.startswith(("loading", "saving"))]


def test_a_census_is_taken_as_a_model_gets_its_state_with_what_it_is_given(tmp_path: Path) -> None:
    file, log, net = saved(tmp_path), CensusLog(), layer()
    with recording(tmp_path / "rec", log):
        state = torch.load(file)
        net.load_state_dict(state)

    assert at_calls(log) == [(0, "loading-1")]
    assert log.inputs == [(state,)]
    assert torch.equal(net.weight, state["weight"])


def test_a_state_given_by_its_keyword_is_seen_and_the_result_given_back(tmp_path: Path) -> None:
    log, net, state = CensusLog(), layer(), layer().state_dict()
    with recording(tmp_path, log):
        result = net.load_state_dict(state_dict={"weight": state["weight"]}, strict=False)

    assert at_calls(log) == [(0, "loading-1")]
    assert result.missing_keys == ["bias"]


def test_weights_that_are_mapped_from_their_file_are_no_memory_beside_the_model(tmp_path: Path) -> None:
    file, log, net = saved(tmp_path), CensusLog(), layer()
    with recording(tmp_path / "rec", log):
        net.load_state_dict(torch.load(file, mmap=True))

    assert at_calls(log) == []


def test_what_an_optimizer_works_on_is_saved_without_a_look_and_a_copy_with_one(tmp_path: Path) -> None:
    log, net = CensusLog(), layer()
    optimizer = torch.optim.Adam(net.parameters())
    with recording(tmp_path / "rec", log):
        net(torch.ones(1, WIDTH)).sum().backward()
        optimizer.step()
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "all.pt")
        torch.save(copy.deepcopy(net.state_dict()), tmp_path / "copy.pt")

    assert at_calls(log) == [(1, "saving-1")]


def test_of_calls_that_are_given_as_much_again_and_of_small_ones_none_is_looked_at(tmp_path: Path) -> None:
    log, net, small = CensusLog(), layer(), torch.nn.Linear(8, 8)
    with recording(tmp_path, log):
        small.load_state_dict(copy.deepcopy(small.state_dict()))
        for _ in range(3):
            net.load_state_dict(copy.deepcopy(net.state_dict()))
        torch.nn.Sequential(net, layer()).load_state_dict(torch.nn.Sequential(layer(), layer()).state_dict())

    assert at_calls(log) == [(0, "loading-1"), (0, "loading-2")]


def test_torch_is_left_as_it_was_found_and_its_functions_can_be_pickled_meanwhile(tmp_path: Path) -> None:
    before = (torch.nn.Module.load_state_dict, torch.optim.Optimizer.load_state_dict, torch.save)
    with recording(tmp_path):
        ours = torch.save
        again = pickle.loads(pickle.dumps(torch.save))

    assert again is ours
    assert ours is not before[2]
    assert (torch.nn.Module.load_state_dict, torch.optim.Optimizer.load_state_dict, torch.save) == before
    assert torch.serialization.save is torch.save
