from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from tenure.capture.profile.amp_on_host import AUTOCAST
from tenure.capture.profile.as_written import AS_WRITTEN
from tenure.capture.profile.moves_as_on_cuda import ON_HOST
from tenure.cli.main import run_command_line

TRAIN = """
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256))
optimizer = torch.optim.Adam(model.parameters())
for step in range(10):
    model(torch.randn(64, 256)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
open("finished", "w").close()
"""


def plan(arguments: list[str], program: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> int:
    monkeypatch.chdir(folder)
    Path("train.py").write_text(program)
    return run_command_line(["plan", *arguments])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which program?"),
        (["-c", "import torch"], "code without a file cannot be planned; write it to a file first"),
        (["tarin.py"], "tarin.py: no such file; there is train.py"),
        (["--device-memory", "much", "train.py"], "--device-memory much: 'much' is no size; write it as in '2GiB'"),
        (["--allocator", "no_such:1", "train.py"], "torch knows no `no_such`"),
        (
            ["--option", "flash", "train.py"],
            "--option flash: there is no such option; there are no-foreach, fused, set-to-none, in-place, ",
        ),
        (["--length-arg", "--length", "train.py"], "the longest input for how much memory? add --device-memory 80GiB"),
        (["--batch-arg", "--batch", "train.py"], "the largest batch for how much memory? add --device-memory 80GiB"),
    ],
)
def test_a_mistake_in_the_request_is_one_line_before_anything_runs(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = plan(arguments, "raise SystemExit('it ran')\n", monkeypatch, tmp_path)

    told = capsys.readouterr().err
    assert (code, told.count("\n")) == (2, 1)
    assert message in told


@pytest.mark.slow
def test_a_program_is_planned_from_four_of_its_steps_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = plan(["--json", "--device-memory", "16GiB", "train.py"], TRAIN, monkeypatch, tmp_path)

    told = json.loads(capsys.readouterr().out)
    weights = 4 * (256 * 1024 + 1024 + 1024 * 256 + 256)
    batch, hidden, out = 64 * 256 * 4, 64 * 1024 * 4, 64 * 256 * 4
    assert (code, told["fits"], told["steps"], told["notes"]) == (0, True, [2, 3], [])
    assert told["peak"]["part"] == "optimizer's step"
    roles = told["by_role"]
    assert (roles["parameter"], roles["gradient"], roles["optimizer state"]) == (weights, weights, 2 * weights)
    assert roles["temporary"] == weights  # what foreach makes of all parameters at once
    assert told["saved_bytes"] == batch + hidden + out
    assert told["by_module"].keys() == {"0", "2", "(optimizer's step)"}
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


@pytest.mark.slow
def test_too_little_memory_is_told_and_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = plan(["--device-memory", "64MiB", "train.py"], TRAIN, monkeypatch, tmp_path)

    assert code == 1
    assert "64.00 MiB: does not fit; what is reserved and counted is " in capsys.readouterr().out


ON_CUDA = """
import torch

model = torch.compile(torch.nn.Linear(1024, 8, bias=False).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randn(512, 1024)
for step in range(10):
    batch = data[step * 64 % 512 :][:64].to("cuda", non_blocking=True)
    with torch.autocast("cuda"):
        loss = model(batch).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device")
def test_a_program_that_asks_for_cuda_is_planned_with_the_copies_that_it_makes_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = plan(["--json", "train.py"], ON_CUDA, monkeypatch, tmp_path)

    told = json.loads(capsys.readouterr().out)
    weight, batch, out, number = 8 * 1024 * 4, 64 * 1024 * 4, 64 * 8 * 4, 512
    in_half = weight // 2 + batch // 2 + out // 2
    gradient = weight  # of the step before, until it is dropped
    assert (code, told["host_bytes"]) == (0, 512 * 1024 * 4)
    assert told["peak_by_part"]["forward"] == weight + gradient + batch + in_half + 2 * number  # with the loss before
    assert told["peak_by_part"]["between steps"] == weight + gradient + 2 * batch + number
    assert told["notes"] == [ON_HOST, AS_WRITTEN, AUTOCAST]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import torch\ntorch.cuda.get_device_properties(0)\n", "train.py needs a GPU to start: "),
        ("open('no/such/data')\n", "train.py ended with exit code 1 after 0 steps: FileNotFoundError"),
        (
            TRAIN.replace("range(10)", "range(2)"),
            "train.py made 2 steps and left no memory stream: step 2 was not profi",
        ),
        ("import torch\nprint(torch.ones(3).sum())\n", "train.py made no step that could be seen"),
    ],
)
def test_a_program_that_cannot_be_planned_is_told_in_one_line(
    program: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = plan(["train.py"], program, monkeypatch, tmp_path)

    told = capsys.readouterr().err.splitlines()
    assert (code, len(told)) == (2, 2)
    assert told[0] == "tenure: train.py runs for 4 steps, of which 2 and 3 are watched"
    assert told[1].startswith(f"tenure: {message}")


@pytest.mark.slow
def test_a_program_that_fails_after_a_forward_is_known_by_what_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = TRAIN.replace(
        "    model(torch.randn(64, 256)).square().mean().backward()",
        "    loss = model(torch.randn(64, 256)).square().mean()\n    open('no/such/data')",
    )

    code = plan(["--json", "train.py"], program, monkeypatch, tmp_path)

    told = json.loads(capsys.readouterr().out)
    weights = 4 * (256 * 1024 + 1024 + 1024 * 256 + 256)
    assert (code, told["steps"]) == (2, 0)
    assert told["error"].startswith("train.py ended with exit code 1 after 0 steps: FileNotFoundError")
    assert told["known"].pop("basis").startswith("tensors that the process had when it ended")
    assert told["known"] == {
        "parameter_bytes": weights,
        "trained_bytes": weights,
        "gradient_bytes": weights,
        "buffer_bytes": 0,
        "optimizers": [{"of_class": "Adam", "state_bytes": 2 * weights, "was_there": False}],
        "state_bytes": 2 * weights,
        "saved_bytes": 4 * 64 * (256 + 1024 + 256),
    }


@pytest.mark.slow
def test_an_option_that_the_program_does_not_have_ends_with_2_beside_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    strict = "import sys\nassert len(sys.argv) == 1, 'no such option'\n" + TRAIN

    code = plan(["--json", "--device-memory", "1GiB", "--batch-arg", "--bs", "train.py"], strict, monkeypatch, tmp_path)

    out, err = capsys.readouterr()
    told, why = json.loads(out), "train.py --bs 4 ended with exit code 1 after 0 steps: AssertionError: no such option"
    assert (code, told["fits"], told["largest_batch"], told["unanswered"], told["notes"]) == (2, True, None, why, [why])
    assert err.splitlines()[-1] == f"tenure: {why}"


@pytest.mark.slow
def test_the_largest_batch_follows_from_runs_with_small_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = TRAIN.replace("torch.randn(64, 256)", "torch.randn(int(sys.argv[2]), 256)").replace(
        "import torch\n", "import sys\nimport torch\n"
    )
    asked = ["--json", "--device-memory", "1GiB", "--batch-arg", "--batch", "--batch-sizes", "2,4,6,300", "train.py"]

    code = plan([*asked, "--batch", "8"], program.replace("argv[2]", "argv[-1]"), monkeypatch, tmp_path)

    told = json.loads(capsys.readouterr().out)
    found = told["largest_batch"]
    assert (code, told["notes"], found["sizes"], found["checked"]) == (0, [], [2, 4, 6], 300)
    assert found["predicted_bytes"] == found["found_bytes"]
    # in backward: weights, states, the batch, hidden, results, and two of hidden's size with a gradient
    assert 50_000 < found["least"] < found["most"] < 150_000


ATTENTION = """
import sys
import torch

asked = dict(zip(sys.argv[1::2], map(int, sys.argv[2::2])))
layer = torch.nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, batch_first=True)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for step in range(10):
    layer(torch.randn(asked["--batch"], asked["--length"], 32)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.slow
def test_batches_and_lengths_are_searched_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--json", "--device-memory", "1GiB", "--batch-arg", "--batch", "--length-arg", "--length"]
    sizes = ["--batch-sizes", "2,4,6,24", "--length-sizes", "16,32,48,256"]

    code = plan([*asked, *sizes, "train.py", "--batch", "2", "--length", "8"], ATTENTION, monkeypatch, tmp_path)

    told = json.loads(capsys.readouterr().out)
    found = told["token_budget"]
    assert (code, told["largest_batch"], told["longest"]) == (0, None, None)
    assert (found["batches"], found["lengths"], found["checked"]) == ([2, 4, 6], [16, 32, 48], [24, 256])
    assert found["predicted_bytes"] == found["found_bytes"]
    lengths, batches = ([row[name] for row in found["rows"]] for name in ("length", "most"))
    assert lengths == [16, 32, 48, *(256 << number for number in range(7))]
    assert batches == sorted(batches, reverse=True)
    assert all(row["least"] <= row["most"] for row in found["rows"])


@pytest.mark.slow
def test_the_longest_input_follows_from_runs_with_short_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--json", "--device-memory", "128MiB", "--length-arg", "--length", "--length-sizes", "16,32,48,300"]

    code = plan([*asked, "train.py", "--batch", "2", "--length", "8"], ATTENTION, monkeypatch, tmp_path)

    found = json.loads(capsys.readouterr().out)["longest"]
    assert (code, found["option"], found["checked"]) == (0, "--length", 300)
    assert found["predicted_bytes"] == found["found_bytes"]
    assert 300 < found["least"] <= found["most"]
