"""Each program changes torch for its process, and runs in one of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

pytestmark = [pytest.mark.slow, pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device")]
BEGIN = """
import torch
from tenure.capture.profile.amp_on_host import run_amp_on_host
from tenure.capture.profile.as_written import note_compiling
from tenure.capture.profile.cuda_on_host import answer_for_cuda
from tenure.capture.profile.moves_as_on_cuda import move_as_on_cuda
from tenure.capture.profile.places import PLACES
from tenure.capture.profile.run_notes import notes_of_run
move_as_on_cuda(), answer_for_cuda(), run_amp_on_host(), note_compiling()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""


def run(program: str, folder: Path) -> None:
    file = folder / "program.py"
    file.write_text(BEGIN + textwrap.dedent(program))
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_tensors_are_copied_to_the_device_once_and_remembered(tmp_path: Path) -> None:
    run(
        """
        batch = torch.randn(4, 3)
        there = batch.to(device)
        assert there is not batch and torch.equal(there, batch)
        assert there.data_ptr() != batch.data_ptr() and there.to(device).data_ptr() == there.data_ptr()
        assert (PLACES.of(batch), PLACES.of(there), PLACES.says_where) == (False, True, True)
        assert batch.to(device, torch.float16).dtype == torch.float16 and batch.to(torch.float16).dtype == torch.float16
        assert PLACES.of(torch.zeros(2, device=device)) is True and PLACES.of(torch.zeros(2)) is None
        back = there.cpu()
        assert (PLACES.of(back), back.data_ptr() == there.data_ptr()) == (False, False)
        assert PLACES.of(there.to("cpu")) is False and there.to(batch) is there
        weight = torch.nn.Linear(3, 2).to(device).weight
        assert weight.to(device) is weight and weight.is_leaf
        assert notes_of_run() == ()
        """,
        tmp_path,
    )


def test_gradients_go_back_through_a_copy(tmp_path: Path) -> None:
    run(
        """
        leaf = torch.ones(3, requires_grad=True)
        (leaf.to(device) * 2).sum().backward()
        assert torch.equal(leaf.grad, torch.full((3,), 2.0))
        """,
        tmp_path,
    )


def test_scripted_functions_go_on_to_find_what_torch_makes_tensors_with(tmp_path: Path) -> None:
    run(
        """
        @torch.jit.script
        def padded(x):
            return torch.cat([x, torch.zeros([2], device=x.device)])

        assert padded(torch.ones(1)).tolist() == [1.0, 0.0, 0.0]
        """,
        tmp_path,
    )


def test_requests_for_cuda_are_met_on_the_host_and_told(tmp_path: Path) -> None:
    run(
        """
        from tenure.capture.profile.moves_as_on_cuda import ON_HOST

        torch.cuda.set_device(0), torch.cuda.synchronize()
        made = [torch.zeros(2, device="cuda"), torch.ones(2).cuda(), torch.ones(2).to("cuda:0", non_blocking=True)]
        layer = torch.nn.Linear(2, 2, device="cuda").to(torch.device("cuda"))
        made += [layer.weight, torch.nn.Linear(2, 2).cuda().weight]
        assert all(each.device.type == "cpu" and PLACES.is_on_device(each) for each in made)
        with torch.device("cuda"):
            assert torch.ones(2).device.type == "cpu"
        assert torch.ones(2).pin_memory().sum() == 2 and torch.empty(2, pin_memory=True).numel() == 2
        event, side = torch.cuda.Event(enable_timing=True), torch.cuda.Stream()
        with torch.cuda.stream(side):
            event.record()
        torch.cuda.current_stream().wait_stream(side)
        assert event.elapsed_time(event) == 0.0
        assert (torch.cuda.is_available(), notes_of_run()) == (False, (ON_HOST,))
        """,
        tmp_path,
    )


def test_autocast_and_scaling_for_cuda_run_on_the_host_in_their_type(tmp_path: Path) -> None:
    run(
        """
        from torch.utils.checkpoint import checkpoint
        from tenure.capture.profile.amp_on_host import AUTOCAST, SCALER

        layer, x = torch.nn.Linear(4, 4), torch.ones(2, 4)
        with torch.autocast("cuda"):
            assert (layer(x).dtype, torch.is_autocast_enabled()) == (torch.float16, True)
            assert checkpoint(layer, x, use_reentrant=False).dtype == torch.float16
            with torch.autocast("cuda", enabled=False):
                assert layer(x).dtype == torch.float32
        with torch.autocast("cuda", dtype=torch.bfloat16):
            assert (layer(x).dtype, torch.get_autocast_dtype("cuda")) == (torch.bfloat16, torch.bfloat16)
        assert torch.get_autocast_dtype("cuda") == torch.float16
        scaler = torch.amp.GradScaler("cuda")
        scaler.scale(layer(x).sum()).backward()
        scaler.step(torch.optim.SGD(layer.parameters(), lr=0.1))
        assert (scaler.is_enabled(), scaler.get_scale()) == (True, 1.0)
        assert notes_of_run() == (AUTOCAST, SCALER)
        """,
        tmp_path,
    )


def test_a_checkpoint_without_autocast_for_cuda_does_not_say_that_there_was(tmp_path: Path) -> None:
    run(
        """
        from torch.utils.checkpoint import checkpoint

        layer, x = torch.nn.Linear(4, 4), torch.ones(2, 4)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            made = checkpoint(layer, x, use_reentrant=False)
        made.sum().backward()
        assert (made.dtype, notes_of_run()) == (torch.bfloat16, ())
        """,
        tmp_path,
    )


def test_a_program_that_compiles_is_said_to_be_planned_as_written(tmp_path: Path) -> None:
    run(
        """
        from tenure.capture.profile.as_written import AS_WRITTEN

        torch.compile(torch.nn.Linear(2, 2), disable=True)
        assert notes_of_run() == ()
        torch.nn.Linear(2, 2).compile()
        assert notes_of_run() == (AS_WRITTEN,)
        """,
        tmp_path,
    )
