from __future__ import annotations

import pytest

from tenure.fixing.printed import make_alike, read_lines


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024-05-06 10:11:12,345 INFO loss 0.5", "2024-05-07 11:12:13,456 INFO loss 0.5"),
        ("epoch took 1.21s", "epoch took 12s"),
        ("epoch took 1.2 seconds, 3,101.5 samples/s", "epoch took 11 seconds, 99 samples/s"),
        ("model at 0x7f3a12345678", "model at 0x7f3a87654321"),
        ("\r 0%|  | 0/4 [00:00<?, ?it/s]\r100%|##| 4/4 [00:03<00:00, 1.3it/s]", "100%|##| 4/4 [00:04<00:00, 9.1it/s]"),
        ("/tree/a.py:12: UserWarning: slow\n  kept.append(loss)\nend", "/tree/a.py:13: UserWarning: slow\nend"),
        ('  File "a.py", line 12, in <module>', '  File "a.py", line 9, in <module>'),
        ("tenure: recording\nloss 0.5", "loss 0.5"),
    ],
)
def test_what_no_two_runs_share_is_made_alike(one: str, other: str) -> None:
    assert [make_alike(line) for line in read_lines(one)] == [make_alike(line) for line in read_lines(other)]


@pytest.mark.parametrize("text", ["step 3 loss 0.5", "3:10 of 4", "1e-3", "shape 4x5", "-0.25"])
def test_values_stay_as_they_are(text: str) -> None:
    assert [make_alike(line) for line in read_lines(text)] == [text]
