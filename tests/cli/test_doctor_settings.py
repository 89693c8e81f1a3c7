"""What the doctor says of allocator settings."""

from __future__ import annotations

import pytest

from tenure.cli.doctor_settings import check_allocator, check_settings, parse_settings


def test_settings_with_lists_are_read() -> None:
    text = "expandable_segments:True, roundup_power2_divisions:[256:1,512:2,>:4],max_split_size_mb:128"
    assert parse_settings(text) == {
        "expandable_segments": "True",
        "roundup_power2_divisions": "[256:1,512:2,>:4]",
        "max_split_size_mb": "128",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("expandable_segments:True", []),
        ("max_split_size_mb:128", []),
        ("garbage_collection_threshold:0.8,per_process_memory_fraction:0.9", []),
        ("roundup_power2_divisions:[256:1,512:2,>:4]", []),
        ("expandable_segments:True,max_split_size_mb:128", ["max_split_size_mb together with expandable_segments"]),
        ("garbage_collection_threshold:0.8", ["garbage_collection_threshold does nothing without a memory fraction"]),
        (
            "garbage_collection_threshold:0.8,per_process_memory_fraction:1.0",
            ["garbage_collection_threshold does nothing without a memory fraction"],
        ),
        (
            "garbage_collection_threshold:1.5,per_process_memory_fraction:0.5",
            ["garbage_collection_threshold is a share above 0 and below 1; 1.5 is set"],
        ),
        ("max_split_size_mb:10", ["max_split_size_mb is at least 20; 10 is set"]),
        (
            "backend:cudaMallocAsync,max_split_size_mb:64",
            ["backend:cudaMallocAsync leaves allocation to the driver: max_split_size_mb has no effect"],
        ),
        ("expandable_segments:true", ["expandable_segments is True or False, written so; `true` is set"]),
        ("max_split_size_mb=128", ["`max_split_size_mb=128` is no key:value, and torch will refuse it"]),
        ("expandable_segments:True;max_split_size_mb:64", ["expandable_segments is True or False, written so"]),
        ("max_split_size_mb:lots", ["max_split_size_mb is a number; `lots` is set"]),
        ("max_split_size_mb:128MB", []),
        ("backend:cudaMalloc", ["backend is native or cudaMallocAsync; `cudaMalloc` is set"]),
        ("roundup_power2_divisions:3", ["roundup_power2_divisions is a power of two; 3 is set"]),
        ("per_process_memory_fraction:80", ["per_process_memory_fraction is a share above 0 and up to 1; 80 is set"]),
        ("", []),
        ("expandable_segment:True", ["the allocator settings have expandable_segment, which torch does not know"]),
    ],
)
def test_settings_that_conflict_or_do_nothing_are_told(text: str, said: list[str]) -> None:
    found = check_settings(text)
    assert [each[: len(start)] for each, start in zip(found, said, strict=True)] == said


def check(torch_version: str = "2.13.0", **environment: str) -> list[str]:
    return check_allocator(environment, torch_version=torch_version, sets_fraction=False)


def test_each_variable_is_told_by_its_name_and_one_of_two_has_no_effect() -> None:
    found = check(PYTORCH_ALLOC_CONF="a:1", PYTORCH_CUDA_ALLOC_CONF="expandable_segments:yes")

    assert [each.split(": ")[0] for each in found[:2]] == ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"]
    assert found[2].startswith("PYTORCH_ALLOC_CONF and PYTORCH_CUDA_ALLOC_CONF are both set, and CUDA reads the second")
    assert len(found) == 3


@pytest.mark.parametrize("version", ["2.9.1+cu128", "2.4.0"])
def test_a_name_that_this_torch_does_not_read_for_cuda_is_told(version: str) -> None:
    (said,) = check(version, PYTORCH_ALLOC_CONF="expandable_segments:True")

    assert said.startswith(f"PYTORCH_ALLOC_CONF does not reach CUDA's allocator in torch {version}")
    assert check(version, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True") == []


def test_the_name_is_right_for_newer_torch_and_nothing_is_said_without_one() -> None:
    assert check("2.13.0", PYTORCH_ALLOC_CONF="expandable_segments:True") == []
    assert check("", PYTORCH_ALLOC_CONF="expandable_segments:True") == []


def test_settings_of_a_cache_that_is_switched_off_have_no_effect() -> None:
    alone = check(PYTORCH_NO_CUDA_MEMORY_CACHING="1")
    both = check(PYTORCH_NO_CUDA_MEMORY_CACHING="0", PYTORCH_ALLOC_CONF="expandable_segments:True")

    assert alone == ["PYTORCH_NO_CUDA_MEMORY_CACHING is set: torch allocates without cache, slowly"]
    assert both == [f"{alone[0]}; PYTORCH_ALLOC_CONF has no effect with it"]
