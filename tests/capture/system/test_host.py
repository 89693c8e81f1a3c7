from __future__ import annotations

from tenure.capture.system.host import describe_process, hide_secrets


def test_values_that_are_named_like_secrets_are_masked() -> None:
    given = ["train.py", "--hf-token", "hf_123", "--api-key=abc", "--tokenizer", "--lr", "0.1", "passwords.txt"]

    assert hide_secrets(given) == [
        *("train.py", "--hf-token", "***", "--api-key=***", "--tokenizer", "--lr", "0.1", "passwords.txt")
    ]


def test_only_allowed_variables_are_recorded() -> None:
    process = describe_process({"RANK": "1", "WORLD_SIZE": "x", "AWS_SECRET_ACCESS_KEY": "s"})

    assert process["environment"] == {"RANK": "1", "WORLD_SIZE": "x"}
    assert (process["rank"], process["world_size"]) == (1, None)
