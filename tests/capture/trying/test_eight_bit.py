"""Optimizers are given state of 8 bits where a library for it is there: here one of the same form as torchao."""

from __future__ import annotations

from pathlib import Path

import pytest

from capture.trying.test_trial import TRAIN, needs, stream_of
from tenure.planning.signs import sign_of

pytestmark = pytest.mark.slow

LIBRARY = """
import torch


class State(torch.Tensor):
    @staticmethod
    def __new__(cls, codes, scale):
        return torch.Tensor._make_wrapper_subclass(cls, codes.shape, dtype=torch.float32)

    def __init__(self, codes, scale):
        self.codes, self.scale = codes, scale

    def __tensor_flatten__(self):
        return ["codes", "scale"], None

    @classmethod
    def __torch_dispatch__(cls, function, types, args, kwargs=None):
        state = args[0]
        if function is torch.ops.aten.copy_.default:
            state.scale.copy_(args[1].abs().max() / 127)
            state.codes.copy_((args[1] / state.scale).round())
            return state
        values = state.codes.float() * state.scale
        return function(values, *args[1:], **(kwargs or {}))


def single_param_adam(parameter, gradient, first):
    average = torch.add(first, gradient)
    first.copy_(average)
    parameter.sub_(average * 0.001)


class AdamW8bit(torch.optim.Optimizer):
    def __init__(self, parameters, lr=1e-3):
        super().__init__(parameters, {"lr": torch.tensor(lr)})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            assert isinstance(group["lr"], torch.Tensor)
            for parameter in group["params"]:
                state = self.state[parameter]
                if not state:
                    codes = torch.zeros(parameter.shape, dtype=torch.int8)
                    state["first"] = State(codes, torch.ones(()))
                single_param_adam(parameter, parameter.grad, state["first"])
"""
PROGRAM = TRAIN.replace("import functools\n", "import os\nimport sys\nsys.path.insert(0, os.environ['LIBRARY'])\n")


@pytest.fixture
def _library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "library" / "torchao" / "optim"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "adam.py").write_text(LIBRARY)
    (package / "__init__.py").write_text("from torchao.optim.adam import AdamW8bit\n")
    monkeypatch.setenv("LIBRARY", str(package.parents[1]))


@pytest.mark.usefixtures("_library")
def test_state_of_8_bits_is_that_of_a_program_that_has_it_whatever_bound_the_step_before(tmp_path: Path) -> None:
    scheduled = PROGRAM.replace(
        "AdamW(model.parameters())\n",
        "AdamW(model.parameters())\nschedule = torch.optim.lr_scheduler.ConstantLR(optimizer)\n",
    )
    by_hand = PROGRAM.replace("optimizer = torch.optim", "from torchao.optim import AdamW8bit\noptimizer = torch.optim")
    by_hand = by_hand.replace("torch.optim.AdamW(", "AdamW8bit(")

    as_it_is, survey = stream_of(scheduled, tmp_path / "plain", ())
    own, other = stream_of(by_hand, tmp_path / "hand", ())
    tried, _ = stream_of(scheduled, tmp_path / "tried", ("8-bit-state",))

    assert needs(tried) == needs(own) != needs(as_it_is)
    assert sign_of("8-bit-state", as_it_is, tried) == sign_of("8-bit-state", as_it_is, own) is not None
    names = [tried.profile.text(name) for name in tried.profile.operations.name.tolist()]
    assert names.count("torchao.optim.adam.single_param_adam") == 2 * 51
    assert [note for note in tried.notes if "one kernel" in note]
    assert survey is not None
    assert other is not None
    assert "8-bit-state" not in survey.refused
    assert other.refused["8-bit-state"] == "torchao has Adam, AdamW of 8 bits, and no AdamW8bit"


def test_without_a_library_the_option_is_refused(tmp_path: Path) -> None:
    _, survey = stream_of(TRAIN, tmp_path / "plain", ())

    assert survey is not None
    assert survey.refused["8-bit-state"] == "torchao is not installed: not run"
