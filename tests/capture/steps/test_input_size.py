from __future__ import annotations

from pathlib import Path

import torch

from capture.recorder import CensusLog, recording
from tenure.capture.steps.input_size import MOST_LOOKED_AT, InputSizes, measure_inputs
from tenure.store.recording_file import open_recording


def test_elements_of_all_tensors_and_the_longest_second_dimension_count() -> None:
    tokens, mask, image = torch.zeros(4, 100), torch.zeros(4, 100, dtype=torch.bool), torch.zeros(2, 3, 8, 8)

    found = measure_inputs(((tokens, [image, "text"]), {"mask": {"padding": mask}, "scale": torch.ones(())}))

    assert found == {"input_elements": 400 + 400 + 384 + 1, "input_longest": 100}


def test_without_plain_tensors_nothing_is_said() -> None:
    class Own(torch.Tensor):
        pass

    assert measure_inputs(((), {})) == {}
    assert measure_inputs((("text", 3, torch.zeros(3, 3).as_subclass(Own)), {})) == {}


def test_no_more_than_a_few_values_are_looked_at() -> None:
    endless: list[object] = []
    endless.append(endless)

    assert measure_inputs(endless) == {}
    many = [torch.zeros(1) for _ in range(10 * MOST_LOOKED_AT)]
    assert measure_inputs(many)["input_elements"] < MOST_LOOKED_AT


def test_the_largest_call_of_a_step_stands_for_it() -> None:
    sizes = InputSizes()
    for length in (5, 9, 7):
        sizes.take(((torch.zeros(2, length),), {}))
    sizes.take(("no tensor",))

    assert sizes.end_step() == {"input_elements": 18, "input_longest": 9}
    assert sizes.end_step() == {}


def test_steps_whose_calls_are_watched_say_how_large_their_input_was(tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with recording(tmp_path, CensusLog()):
        for batch in (2, 4, 3):
            model(torch.ones(batch, 3)).sum().backward()
            optimizer.step()

    counters = [step.counters for step in open_recording(tmp_path).steps]
    assert [each.get("input_elements") for each in counters] == [6, 12, 9]
    assert [each.get("input_longest") for each in counters] == [3, 3, 3]
