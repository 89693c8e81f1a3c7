from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tenure.errors import UsageError
from tenure.fixing.batch_numbers import CONSTANT
from tenure.fixing.batch_settings import BatchSetting, InCommand, InSource, recognise_batch

PARSED = 'parser.add_argument("-b", "--batch-size", type=int, default=16)\nSIZE = 5\n'


def recognised(folder: Path, arguments: str, source: str = "", wanted: str | None = None) -> BatchSetting:
    (folder / "train.py").write_text(source)
    return recognise_batch((sys.executable, "train.py", *arguments.split()), folder, wanted)


@pytest.mark.parametrize(
    ("arguments", "name", "size", "with_64"),
    [
        ("--lr 1 --batch-size 32 --seed 3", "--batch-size", 32, "--lr 1 --batch-size 64 --seed 3"),
        ("--batch_size=32 x", "--batch_size", 32, "--batch_size=64 x"),
        ("-b 32", "-b", 32, "-b 64"),
        ("-b32 y", "-b", 32, "-b64 y"),
        ("model=big train.batch_size=8", "train.batch_size", 8, "model=big train.batch_size=64"),
        ("+batch_size=8", "batch_size", 8, "+batch_size=64"),
        ("--bs 8 --bs 16 --eval-batch-size 4", "--bs", 16, "--bs 8 --bs 64 --eval-batch-size 4"),
        ("--batch-size auto", "--batch-size", None, "--batch-size 64"),
    ],
)
def test_an_argument_is_recognised_and_given_another_size_where_it_stands(
    arguments: str, name: str, size: int | None, with_64: str, tmp_path: Path
) -> None:
    found = recognised(tmp_path, arguments, PARSED)

    assert isinstance(found.place, InCommand)
    assert (found.name, found.said, found.size) == (name, name, size)
    before, behind = found.place.split((sys.executable, "train.py", *arguments.split()))
    assert [*before, *found.place.write(64), *behind] == [sys.executable, "train.py", *with_64.split()]


def test_an_option_that_is_not_given_has_its_default_and_is_put_behind_the_command(tmp_path: Path) -> None:
    found = recognised(tmp_path, "--lr 1", PARSED)
    by_other_name = recognised(tmp_path, "--lr 1", PARSED, wanted="-b")

    said = "the default of --batch-size (train.py:1)"
    assert found == BatchSetting("--batch-size", said, 16, InCommand("--batch-size", " "))
    assert by_other_name == BatchSetting("-b", "the default of -b (train.py:1)", 16, InCommand("-b", " "))
    assert InCommand("-b", " ").split(("python", "t.py", "--lr", "1")) == (("python", "t.py", "--lr", "1"), ())


def test_a_constant_or_the_only_loader_of_the_script_is_recognised_and_edited(tmp_path: Path) -> None:
    script = (tmp_path / "train.py").resolve()
    constant = recognised(tmp_path, "", "BATCH_SIZE = 32\nloader = DataLoader(data, batch_size=4)\n")
    shuffled = recognised(tmp_path, "", "a = DataLoader(d, batch_size=4)\nb = DataLoader(d, 8, shuffle=True)\n")
    wanted = recognised(tmp_path, "", "BATCH_SIZE = 32\nROWS = 7\n", wanted="ROWS")

    place = InSource(script, CONSTANT, "BATCH_SIZE")
    assert constant == BatchSetting("BATCH_SIZE", "BATCH_SIZE (train.py:1)", 32, place)
    assert (shuffled.said, shuffled.size) == ("the shuffled DataLoader (train.py:2)", 8)
    assert (wanted.said, wanted.size) == ("ROWS (train.py:2)", 7)
    assert place.put({Path("a.py"): b"", script: b"x = 1\nBATCH_SIZE = 32\n"}, 64) == {
        Path("a.py"): b"",
        script: b"x = 1\nBATCH_SIZE = 64\n",
    }


@pytest.mark.parametrize(
    ("arguments", "source", "told"),
    [
        ("", "print(1)\n", "no batch size is recognised: name"),
        (
            "--batch-size 8 --bs 4",
            "",
            "several may be the batch size: --batch-size is 8, --bs is 4; name the program's",
        ),
        ("", "batch_size = 1\nbs = 2\n", "batch_size (train.py:1) is 1, bs (train.py:2) is 2; name"),
        ("", "a = DataLoader(d, 1)\nb = DataLoader(d, 2)\n", "(train.py:1) is 1, the DataLoader (train.py:2) is 2"),
    ],
)
def test_none_or_several_are_one_line_that_says_what_to_name(
    arguments: str, source: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as raised:
        recognised(tmp_path, arguments, source)

    assert told in str(raised.value)
    assert "--batch-arg" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_option_that_is_named_is_taken_even_where_it_is_nowhere_to_be_seen(tmp_path: Path) -> None:
    assert recognised(tmp_path, "--rows 5 --bs 4", wanted="--rows").size == 5
    assert recognised(tmp_path, "", wanted="--rows") == BatchSetting("--rows", "--rows", None, InCommand("--rows", " "))
    assert recognised(tmp_path, "", wanted="a.rows").place == InCommand("a.rows", "=")


@pytest.mark.parametrize(
    "command",
    [
        ["torchrun", "--bs", "2", "train.py"],
        ["python", "-m", "torch.distributed.run", "train.py"],
        [sys.executable, "-m", "pkg.train"],
        [sys.executable, "-m", "pkg"],
        [sys.executable, "start"],
    ],
)
def test_the_script_is_found_behind_launchers_and_as_a_module(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    for name in ("train.py", "pkg/train.py", "pkg/__main__.py", "start"):
        (tmp_path / name).write_text("BATCH_SIZE = 9\n")

    assert recognise_batch(command, tmp_path).size == 9
