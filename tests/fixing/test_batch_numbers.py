from __future__ import annotations

import pytest

from tenure.errors import SourceError
from tenure.fixing.batch_numbers import CONSTANT, LOADER, OPTION, find_numbers, is_batch_name, put_number

SOURCE = b"""\
import argparse, click
BATCH_SIZE = 32
WIDTH: int = 64  # caf\xc3\xa9
parser.add_argument("-b", "--batch-size", type=int, default=BATCH_SIZE)
parser.add_argument("--lr", default=0.1)
parser.add_argument("path")
@click.option("--bs", default=16)
@dataclass
class Config:
    batch_size: int = 8
    debug: bool = True
def main():
    train = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
    '''\xc3\xa9'''; test = DataLoader(data, 5)
    given = DataLoader(data, batch_size=BATCH_SIZE)
    arguments = TrainingArguments("out", per_device_train_batch_size=6, per_device_eval_batch_size=7)
"""


@pytest.mark.parametrize(
    ("name", "tells"),
    [
        *[(name, True) for name in ("--batch-size", "--batch_size", "--bs", "-b", "--batch", "BATCH_SIZE", "bs")],
        *[(name, True) for name in ("--per-device-train-batch-size", "train.batch_size", "--data.batch-size")],
        *[(name, True) for name in ("--train-bs", "--micro_batch_size", "batch_size_per_gpu", "batchsize")],
        *[
            (name, False)
            for name in ("--eval-batch-size", "val_batch_size", "--batches", "b", "batch", "--lr", "num_bs")
        ],
    ],
)
def test_names_of_batch_sizes_are_known_and_those_of_evaluation_are_not(name: str, tells: bool) -> None:
    assert is_batch_name(name) is tells


def test_options_constants_and_loaders_are_found_with_their_numbers() -> None:
    found = [(each.kind, each.name, each.value, each.line) for each in find_numbers(SOURCE)]

    assert found == [
        (CONSTANT, "BATCH_SIZE", 32, 2),
        (CONSTANT, "WIDTH", 64, 3),
        (OPTION, "--batch-size", 32, 4),
        (OPTION, "--lr", None, 5),
        (OPTION, "--bs", 16, 7),
        (CONSTANT, "batch_size", 8, 10),
        (LOADER, "the shuffled DataLoader", 4, 13),
        (LOADER, "the DataLoader", 5, 14),
        (LOADER, "per_device_train_batch_size of TrainingArguments", 6, 16),
    ]
    assert find_numbers(b"def") == find_numbers(b"\x00") == ()


def test_a_number_is_put_in_place_of_another_and_nothing_else_changes() -> None:
    changed = put_number(put_number(SOURCE, CONSTANT, "BATCH_SIZE", 1024), LOADER, "the DataLoader", 50)

    assert changed == SOURCE.replace(b"= 32", b"= 1024").replace(b"(data, 5)", b"(data, 50)")


def test_a_number_that_is_not_there_once_is_refused() -> None:
    with pytest.raises(SourceError, match="the edited source has 0 places that may be BATCH"):
        put_number(SOURCE, CONSTANT, "BATCH", 8)
    with pytest.raises(SourceError, match="2 places that may be WIDTH"):
        put_number(SOURCE + b"WIDTH = 3\n", CONSTANT, "WIDTH", 8)
