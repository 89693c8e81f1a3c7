"""What the doctor advises, and which leaks it knows."""

from __future__ import annotations

import ast

from tenure.cli.doctor_checks import check_everything, describe_known_leaks
from tenure.rules.known_leaks import KnownLeak

LEAK = KnownLeak(
    "id", "plans pile up", ("https://github.com/pytorch/pytorch/issues/94893",), "2.0", "2.12", (), ("cuda",), "",
    ("CAPACITY",), "bound the cache", "the thread",
)  # fmt: skip


def test_a_program_that_sets_the_fraction_makes_the_threshold_work() -> None:
    programs = {"train.py": ast.parse("torch.cuda.set_per_process_memory_fraction(0.9)")}
    environment = {"PYTORCH_ALLOC_CONF": "garbage_collection_threshold:0.8"}

    assert check_everything({"cuda": "12.8", "num_devices": 1}, environment, programs) == []
    assert check_everything({"cuda": "12.8", "num_devices": 1}, environment, {})[0].startswith(
        "PYTORCH_ALLOC_CONF: garbage_collection_threshold does nothing"
    )


def test_hidden_devices_are_told_on_a_torch_without_cuda_and_without_any_torch() -> None:
    hidden = {"CUDA_VISIBLE_DEVICES": "-1"}

    assert check_everything({"cuda": None, "num_devices": 0}, hidden, {}) == check_everything({}, hidden, {})
    assert check_everything({}, hidden, {}) == ["CUDA_VISIBLE_DEVICES=-1 hides all devices"]


def test_a_torch_with_cuda_that_sees_no_device_is_told_unless_settings_explain_it() -> None:
    answer = {"cuda": "12.8", "num_devices": 0}

    assert check_everything(answer, {}, {})[0].startswith("torch is built for CUDA 12.8 and sees no device: no driver")
    assert check_everything(answer, {"CUDA_VISIBLE_DEVICES": ""}, {}) == ["CUDA_VISIBLE_DEVICES= hides all devices"]


def test_known_leaks_are_those_of_this_version_and_these_devices() -> None:
    said = ["plans pile up (pytorch#94893): bound the cache"]

    assert describe_known_leaks("2.11.0+cu128", ["cpu", "cuda"], {}, [LEAK]) == said
    assert describe_known_leaks("2.12.0", ["cuda"], {}, [LEAK]) == []
    assert describe_known_leaks("1.13", ["cuda"], {}, [LEAK]) == []
    assert describe_known_leaks("2.11.0", ["cpu"], {}, [LEAK]) == []
    assert describe_known_leaks("2.11.0", ["cuda"], {"CAPACITY": "16"}, [LEAK]) == []
    assert describe_known_leaks("", ["cuda"], {}, [LEAK]) == []
    assert len(describe_known_leaks("2.13.0", ["cpu"], {})) >= 1
